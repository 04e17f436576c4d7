/** `turnwright doctor [--json]`: what this machine can do, and what to change. */
import { parseArgs } from 'node:util';
import { TurnwrightError } from '../protocol/index.js';
import { type DoctorReport, examine, type Finding, openMachine } from '../sandbox/index.js';

export interface DoctorCommandIo {
  readonly cwd: string;
  stdout(text: string): void;
}

/** 0 when commands can be sandboxed here, 1 when they cannot. */
export async function runDoctorCommand(args: readonly string[], io: DoctorCommandIo): Promise<number> {
  const { json } = readOptions(args);
  const machine = await openMachine({ distrusted: [io.cwd] });
  try {
    const report = await examine(machine, io.cwd);
    io.stdout(json ? `${JSON.stringify(report, null, 2)}\n` : toText(report));
    return report.findings.some(({ status }) => status === 'fail') ? 1 : 0;
  } finally {
    await machine.close();
  }
}

function readOptions(args: readonly string[]): { readonly json: boolean } {
  try {
    return parseArgs({ args: [...args], options: { json: { type: 'boolean', default: false } } }).values;
  } catch (error) {
    throw new TurnwrightError('TW_USAGE', `doctor: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function toText({ platform, tier, findings, msPerCommand }: DoctorReport): string {
  const speed = msPerCommand === undefined ? [] : [`time     ${msPerCommand} ms for a sandboxed /bin/true`];
  return `${[`platform ${platform}`, `tier     ${tier}`, ...speed, ...findings.flatMap(line)].join('\n')}\n`;
}

function line({ status, text, fix }: Finding): string[] {
  return [`${status.padEnd(8)} ${text}`, ...(fix === undefined ? [] : [`         → ${fix}`])];
}

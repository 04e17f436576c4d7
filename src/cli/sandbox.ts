/** `turnwright sandbox [--policy FILE | --profile NAME] [--cwd DIR] [--print] -- COMMAND…` */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type SandboxPolicy, TurnwrightError } from '../protocol/index.js';
import { describePlan, type Machine, openMachine, parsePolicyFile, runInherited } from '../sandbox/index.js';

/** What the command needs from the program around it. */
export interface SandboxCommandIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  stdout(text: string): void;
  stderr(text: string): void;
  /** The policy the configuration gives in `cwd`, optionally by the name of a permission profile. */
  loadPolicy(request: { readonly cwd: string; readonly profile?: string }): Promise<SandboxPolicy>;
}

/** As shells and `env` report a command that could not be started. */
const LAUNCH_FAILED = 125;

/** Runs one command under a policy; gives its exit status (128+n for a signal, 125 when it could not be started). */
export async function runSandboxCommand(args: readonly string[], io: SandboxCommandIo): Promise<number> {
  const request = readArguments(args, io.cwd);
  const machine = await openMachine({
    distrusted: [request.cwd],
    onNotice: (notice) => io.stderr(`sandbox: ${notice}\n`),
  });
  try {
    const policy = await choosePolicy(request, io);
    if (request.print) return printPlan(machine, policy, request, io);
    const env = Object.fromEntries(
      Object.entries(io.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const onNotice = (notice: string): void => io.stderr(`sandbox: ${notice}\n`);
    return await runInherited(machine, request.argv, { policy, cwd: request.cwd, env, onNotice });
  } catch (error) {
    if (!isLaunchFailure(error)) throw error;
    io.stderr(`sandbox: ${error.message}\n`);
    return LAUNCH_FAILED;
  } finally {
    await machine.close();
  }
}

interface Request {
  readonly cwd: string;
  readonly policyFile?: string;
  readonly profile?: string;
  readonly print: boolean;
  readonly argv: readonly string[];
}

function readArguments(args: readonly string[], cwd: string): Request {
  const end = args.indexOf('--');
  const { values, positionals } = parseOptions(end < 0 ? args : args.slice(0, end));
  const argv = end < 0 ? positionals : args.slice(end + 1);
  if (argv.length === 0) throw usage('no command was given; put it after --');
  if (values.policy !== undefined && values.profile !== undefined) throw usage('give --policy or --profile, not both');
  return {
    cwd: resolve(cwd, values.cwd ?? '.'),
    print: values.print,
    argv,
    ...(values.policy === undefined ? {} : { policyFile: resolve(cwd, values.policy) }),
    ...(values.profile === undefined ? {} : { profile: values.profile }),
  };
}

function parseOptions(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        policy: { type: 'string' },
        profile: { type: 'string', short: 'P' },
        cwd: { type: 'string', short: 'C' },
        print: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw usage(error instanceof Error ? error.message : String(error));
  }
}

async function choosePolicy(request: Request, io: SandboxCommandIo): Promise<SandboxPolicy> {
  const { cwd, profile } = request;
  if (request.policyFile === undefined)
    return await io.loadPolicy({ cwd, ...(profile === undefined ? {} : { profile }) });
  const text = await readFile(request.policyFile, 'utf8').catch((error: unknown) => {
    throw usage(
      `policy file ${request.policyFile} cannot be read (${error instanceof Error ? error.message : String(error)})`,
    );
  });
  return parsePolicyFile(text, cwd);
}

function printPlan(machine: Machine, policy: SandboxPolicy, request: Request, io: SandboxCommandIo): number {
  const { argv } = describePlan(machine, policy, request.cwd, request.argv);
  io.stdout(`${argv.map(quote).join(' ')}\n`);
  return 0;
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function isLaunchFailure(error: unknown): error is Error {
  if (error instanceof TurnwrightError) return error.code === 'TW_SANDBOX_UNAVAILABLE';
  return error instanceof Error && (error as NodeJS.ErrnoException).code === 'ENOENT';
}

function usage(message: string): TurnwrightError {
  return new TurnwrightError('TW_USAGE', `sandbox: ${message}`);
}

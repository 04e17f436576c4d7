/**
 * Commands that read their own command line, because it holds another program's: nothing may be taken out of it.
 * They load when they run.
 */
import { loadSandboxPolicy, resolveHome, runApplyPatch } from '../engine/index.js';
import type { CommonOptions } from './common-options.js';
import { watchSignals } from './signals.js';

export interface RawCommand {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly about: string;
  readonly usage: string;
  /** It answers `--help` itself. */
  readonly ownHelp?: true;
  /** Resolves with the exit status. */
  run(args: readonly string[], common: CommonOptions): Promise<number>;
}

export const RAW_COMMANDS: readonly RawCommand[] = [
  {
    name: 'sandbox',
    aliases: [],
    about: 'run a command under the sandbox',
    usage: 'turnwright sandbox [--policy FILE | --profile NAME] [--cwd DIR] [--print] -- COMMAND [ARGUMENT...]',
    async run(args, common) {
      const { runSandboxCommand } = await import('./sandbox.js');
      return runSandboxCommand(args, {
        ...plainIo(),
        env: process.env,
        loadPolicy: (request) => loadSandboxPolicy({ ...request, env: process.env, overrides: common.config ?? [] }),
      });
    },
  },
  {
    name: 'execpolicy',
    aliases: [],
    about: 'check the rules that decide which commands may run',
    usage: 'turnwright execpolicy COMMAND [ARGUMENT...]',
    ownHelp: true,
    async run(args) {
      const { runExecpolicyCommand } = await import('./execpolicy.js');
      const { stdout, stderr, env } = process;
      return runExecpolicyCommand(args, { stdout, stderr, env, cwd: process.cwd(), home: resolveHome(env) });
    },
  },
  {
    name: 'demo',
    aliases: [],
    about: 'watch a scripted model repair a sample project; needs no key and no network',
    usage: 'turnwright demo',
    async run() {
      const { runDemo } = await import('./demo/demo.js');
      const { stdout, env } = process;
      return runDemo({
        stdout: (text) => void stdout.write(text),
        env,
        color: stdout.isTTY === true && !env['NO_COLOR'],
      });
    },
  },
  {
    name: 'app-server',
    aliases: [],
    about: 'serve editors and programs over JSON lines on stdin and stdout',
    usage: 'turnwright app-server',
    async run() {
      const { runAppServer } = await import('../app-server/index.js');
      const { stdin, stdout, stderr, env } = process;
      const notice = (text: string) => void stderr.write(`${text}\n`);
      const stop = new AbortController();
      const signals = watchSignals();
      signals.turnRuns(() => stop.abort()); // running turns and their commands must not outlive the server
      const io = { input: stdin, output: stdout, env, cwd: process.cwd(), home: resolveHome(env), notice };
      await runAppServer({ ...io, stop: stop.signal });
      signals.stop();
      stdin.destroy();
      return signals.status ?? 0;
    },
  },
  {
    name: 'doctor',
    aliases: [],
    about: 'show what works on this machine, and how to fix what does not',
    usage: 'turnwright doctor [--json]',
    async run(args) {
      const { runDoctorCommand } = await import('./doctor.js');
      return runDoctorCommand(args, plainIo());
    },
  },
  {
    name: 'apply_patch',
    aliases: ['apply-patch', 'applypatch'],
    about: 'apply a patch given as the argument or on stdin',
    usage: "turnwright apply_patch 'PATCH'",
    run: (args) => runApplyPatch(args),
  },
];

export function findRawCommand(name: string | undefined): RawCommand | undefined {
  return RAW_COMMANDS.find(
    (command) => command.name === name || (name !== undefined && command.aliases.includes(name)),
  );
}

function plainIo() {
  return {
    cwd: process.cwd(),
    stdout: (text: string) => void process.stdout.write(text),
    stderr: (text: string) => void process.stderr.write(text),
  };
}

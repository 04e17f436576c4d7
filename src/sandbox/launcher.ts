/** Runs one command under a policy with the standard streams of this process: what `turnwright sandbox` does. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:os';
import type { SandboxPolicy } from '../protocol/index.js';
import { type Launch, prepareLaunch } from './bwrap/launch.js';
import { signalInside } from './bwrap/run.js';
import { fallback, watchProtected } from './create.js';
import { sandboxEnvironment } from './environment.js';
import { MARK, sweep } from './landlock/sweep.js';
import type { Machine } from './machine.js';
import type { ResolvedPolicy } from './plan/policy.js';
import { requireProgram } from './program.js';

export interface InheritedRun {
  readonly policy: SandboxPolicy;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Told about violations that were put right after the run. */
  readonly onNotice?: (notice: string) => void;
}

/** Exit status of the command; 128+n when a signal ended it. */
export async function runInherited(machine: Machine, argv: readonly string[], run: InheritedRun): Promise<number> {
  const policy = machine.resolve(run.policy);
  requireProgram(argv[0] ?? '', run);
  if (policy === undefined) {
    const [file = '', ...rest] = argv;
    return await statusOf(spawn(file, rest, { cwd: run.cwd, env: run.env, stdio: 'inherit' }), undefined);
  }
  const tty = process.stdin.isTTY === true;
  if (machine.tier === 'seatbelt') return await runSeatbelt(machine, policy, argv, run);
  if (!machine.probe.ok) return await runRestricted(machine, policy, argv, run);
  const launch = await prepareLaunch(machine.bwrap(), { policy, cwd: run.cwd, tty, argv });
  try {
    const [file = '', ...rest] = launch.argv;
    const child = spawn(file, rest, {
      cwd: '/',
      env: { ...run.env, ...launch.env },
      detached: !tty,
      stdio: ['inherit', 'inherit', 'inherit', ...launch.fds],
    });
    return await statusOf(child, launch);
  } finally {
    for (const { text } of await launch.finish()) run.onNotice?.(text);
  }
}

async function runSeatbelt(
  machine: Machine,
  policy: ResolvedPolicy,
  argv: readonly string[],
  run: InheritedRun,
): Promise<number> {
  const launch = await machine.seatbelt(policy, run.cwd, argv);
  const [file = '', ...rest] = launch.argv;
  const env = { ...run.env, ...launch.env };
  const status = await statusOf(spawn(file, rest, { cwd: run.cwd, env, stdio: 'inherit' }), undefined);
  for (const { text } of launch.finish()) run.onNotice?.(text);
  return status;
}

async function runRestricted(
  machine: Machine,
  policy: ResolvedPolicy,
  argv: readonly string[],
  run: InheritedRun,
): Promise<number> {
  const { worker } = await fallback(machine, policy);
  const after = watchProtected(machine, policy, run.cwd);
  const mark = randomUUID();
  const env = { ...run.env, ...sandboxEnvironment('landlock', policy.network), [MARK]: mark };
  const { pid, exited } = await worker.fork({ argv, cwd: run.cwd, env, stdio: [0, 1, 2] });
  const forward = (signal: NodeJS.Signals): void => signalInside(pid, signal, false);
  for (const signal of FORWARDED) process.on(signal, forward);
  const { code, signal } = await exited;
  for (const name of FORWARDED) process.off(name, forward);
  sweep(pid, mark);
  for (const { text } of after()) run.onNotice?.(text);
  return signal === null ? (code ?? 1) : 128 + constants.signals[signal];
}

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

async function statusOf(child: ChildProcess, launch: Launch | undefined): Promise<number> {
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(signal === null ? (code ?? 1) : 128 + constants.signals[signal]));
  });
  launch?.started();
  const forward = (signal: NodeJS.Signals): void => {
    const target = launch?.status().childPid;
    try {
      if (target === undefined) child.kill(signal);
      else signalInside(target, signal, process.stdin.isTTY === true);
    } catch {
      // It is gone already.
    }
  };
  for (const signal of FORWARDED) process.on(signal, forward);
  try {
    return await ended;
  } finally {
    for (const signal of FORWARDED) process.off(signal, forward);
  }
}

/** Runs one command under a policy with the standard streams of this process: what `turnwright sandbox` does. */
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { SandboxPolicy } from '../protocol/index.js';
import { type Launch, prepareLaunch } from './bwrap/launch.js';
import type { Machine } from './machine.js';
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
      else process.kill(-target, signal);
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

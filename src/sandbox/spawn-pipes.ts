/** A plain start of a program with extra descriptors, for pipes only. */
import { spawn } from 'node:child_process';
import type { ProcessExit, RunningProcess, SpawnOptions } from '../process/index.js';
import { TurnwrightError } from '../protocol/index.js';

const DRAIN_MS = 50;

export async function spawnWithPipes(
  argv: readonly string[],
  options: SpawnOptions,
  fds: readonly number[],
): Promise<RunningProcess> {
  if (options.tty) throw new TurnwrightError('TW_PTY_UNAVAILABLE', 'no pseudo-terminal support is installed');
  const [file = '', ...args] = argv;
  const child = spawn(file, args, {
    cwd: options.cwd,
    env: options.env,
    detached: true,
    stdio: [options.stdin === 'pipe' ? 'pipe' : 'ignore', 'pipe', 'pipe', ...fds],
  });
  const exited = new Promise<ProcessExit>((resolve) => {
    child.on('exit', (code, signal) => setTimeout(() => resolve({ code, signal }), DRAIN_MS).unref());
    child.on('close', (code, signal) => resolve({ code, signal: signal }));
  });
  await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  const kill = (signal: NodeJS.Signals): void => {
    try {
      process.kill(-child.pid!, signal);
    } catch {
      // It is gone already.
    }
  };
  const early: Buffer[] = [];
  let listener: (bytes: Buffer) => void = (bytes) => early.push(bytes);
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (bytes: Buffer) => listener(bytes));
  return {
    pid: child.pid!,
    onOutput(added) {
      for (const bytes of early.splice(0)) added(bytes);
      const before = listener;
      listener = early.length === 0 && before.length === 1 ? added : added;
    },
    exited,
    canWrite: options.stdin === 'pipe',
    write: async (text) => {
      child.stdin?.write(text);
    },
    kill,
    async terminate(graceMs = 500) {
      kill('SIGTERM');
      const timer = setTimeout(() => kill('SIGKILL'), graceMs);
      await exited;
      clearTimeout(timer);
    },
  };
}

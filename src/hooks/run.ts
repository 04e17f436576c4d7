/** Runs one hook: a shell command with one JSON object on stdin. Its whole process group dies at the time limit. */
import { spawn } from 'node:child_process';
import type { Handler } from './config.js';

export interface HookRun {
  readonly handler: Handler;
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Why there is no usable answer: it could not start, took too long, or was stopped. */
  readonly failure?: string;
}

/** Output that arrives this long after the hook's end still counts; something it left running may hold the pipes for ever. */
const LATE_OUTPUT_MS = 50;

/** More than this of either stream is dropped. */
const MAX_OUTPUT_CHARS = 1 << 20;

export function runHook(
  handler: Handler,
  input: unknown,
  options: { cwd: string; env: NodeJS.ProcessEnv; shell: string },
  signal: AbortSignal,
): Promise<HookRun> {
  return new Promise((resolve) => {
    const child = spawn(options.shell, ['-lc', handler.command], {
      cwd: options.cwd,
      env: options.env,
      detached: true,
      stdio: 'pipe',
    });
    watch(child.pid);
    let stdout = '';
    let stderr = '';
    let failure: string | undefined;
    const stop = (why: string) => {
      failure = why;
      killGroup(child.pid);
    };
    const timer = setTimeout(() => stop(`took longer than ${handler.timeoutMs / 1000} s`), handler.timeoutMs);
    const abort = () => stop('was stopped with the turn');
    signal.addEventListener('abort', abort, { once: true });
    const finish = (exitCode: number | null) => {
      clearTimeout(timer);
      forget(child.pid);
      signal.removeEventListener('abort', abort);
      resolve({ handler, exitCode, stdout, stderr, ...(failure === undefined ? {} : { failure }) });
    };
    child.stdout.on('data', (bytes: Buffer) => {
      if (stdout.length < MAX_OUTPUT_CHARS) stdout += bytes;
    });
    child.stderr.on('data', (bytes: Buffer) => {
      if (stderr.length < MAX_OUTPUT_CHARS) stderr += bytes;
    });
    child.on('error', (error) => {
      failure = `could not be started: ${error.message}`;
      finish(null);
    });
    child.on('exit', (exitCode) => {
      const late = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
        finish(exitCode);
      }, LATE_OUTPUT_MS);
      child.on('close', () => clearTimeout(late));
    });
    child.on('close', finish);
    child.stdin.on('error', () => {}); // a hook need not read its input
    child.stdin.end(`${JSON.stringify(input)}\n`);
  });
}

/** Hooks that run now. They die with this program, also when it ends without waiting for them. */
const live = new Set<number>();

function watch(pid: number | undefined): void {
  if (pid === undefined) return;
  if (live.size === 0) process.on('exit', killAll);
  live.add(pid);
}

function forget(pid: number | undefined): void {
  if (pid === undefined || !live.delete(pid)) return;
  if (live.size === 0) process.off('exit', killAll);
}

function killAll(): void {
  for (const pid of live) killGroup(pid);
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // already gone
  }
}

/** A launch as a running process: signals reach the command, not the sandbox around it; the end waits for the clean-up. */
import { readFileSync } from 'node:fs';
import { type ProcessExit, type RunningProcess, type SpawnOptions, spawnProcess } from '../../process/index.js';
import type { SandboxedProcess } from '../backend.js';
import type { Launch } from './launch.js';

const GRACE_MS = 2000;
/** Exit status for a sandbox that could not start the command, as shells and `env` use it. */
const LAUNCH_FAILED = 125;

export async function startLaunch(launch: Launch, options: SpawnOptions): Promise<SandboxedProcess> {
  const env = { ...options.env, ...launch.env };
  const inner = await spawnProcess(launch.argv, { ...options, env, cwd: '/' }, { fds: launch.fds }).catch(
    async (error: unknown) => {
      await launch.finish();
      throw error;
    },
  );
  launch.started();
  const listeners: ((bytes: Buffer) => void)[] = [];
  const say = (note: string): void => {
    for (const listener of listeners) listener(Buffer.from(`sandbox: ${note}\n`));
  };
  let killed = false;
  let gone = false;
  const kill = (signal: NodeJS.Signals): void => {
    const { childPid } = launch.status();
    if (signal !== 'SIGKILL' && childPid !== undefined) signalInside(childPid, signal, options.tty);
    else if (!killed) {
      killed = true;
      killWhole(inner, launch, () => gone);
    }
  };
  const exited = inner.exited.then(async (exit): Promise<ProcessExit> => {
    gone = true;
    const failed = !killed && launch.status().exitCode === undefined && exit.signal === null;
    if (killed) await untilGone(launch.status().childPid);
    for (const host of launch.refusedHosts()) say(`network access to ${host} was refused`);
    for (const { text } of await launch.finish()) say(text);
    if (!failed) return exit;
    launch.notStarted();
    say('the command was not started, see above');
    return { code: LAUNCH_FAILED, signal: null };
  });
  // It has its own readers; this keeps a failure from being reported as unhandled before they come.
  exited.catch(() => undefined);
  return {
    pid: inner.pid,
    onOutput(listener) {
      listeners.push(listener);
      inner.onOutput(listener);
    },
    exited,
    refusedHosts: () => launch.refusedHosts(),
    canWrite: inner.canWrite,
    write: (text) => inner.write(text),
    kill,
    async terminate(graceMs = GRACE_MS) {
      kill('SIGTERM');
      const timer = setTimeout(() => kill('SIGKILL'), graceMs);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** Signals the command's process group: the one of the sandbox's first process, or with a terminal its child's own. */
export function signalInside(firstPid: number, signal: NodeJS.Signals, tty: boolean): void {
  if (!tty && send(-firstPid, signal)) return;
  for (const child of childrenOf(firstPid)) if (!send(-child, signal)) send(child, signal);
}

/**
 * Ends bubblewrap and, by its own number, the first process inside: `--die-with-parent` does not hold yet while the
 * sandbox is being set up. So when the number is not known yet, it waits until bubblewrap tells it.
 */
function killWhole(inner: RunningProcess, launch: Launch, gone: () => boolean): void {
  const deadline = Date.now() + GONE_LIMIT_MS;
  const attempt = (): void => {
    if (gone()) return;
    const { childPid } = launch.status();
    if (childPid === undefined && Date.now() < deadline) {
      setTimeout(attempt, 1);
      return;
    }
    inner.kill('SIGKILL');
    if (childPid !== undefined) send(childPid, 'SIGKILL');
  };
  attempt();
}

const GONE_LIMIT_MS = 2000;

/**
 * The kernel ends the sandbox's first process, and with it everything inside, because its parent died; that takes a
 * moment more than the parent's own end.
 */
async function untilGone(pid: number | undefined): Promise<void> {
  const deadline = Date.now() + GONE_LIMIT_MS;
  while (pid !== undefined && isRunning(pid) && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** A zombie is over; who reaps it is not our business. */
function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function send(target: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(target, signal);
    return true;
  } catch {
    return false;
  }
}

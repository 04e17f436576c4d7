/** A launch as a running process: signals reach the command, not the sandbox around it; the end waits for the clean-up. */
import type { RunningProcess, SpawnOptions } from '../../process/index.js';
import type { SandboxedProcess } from '../backend.js';
import { spawnWithPipes } from '../spawn-pipes.js';
import type { Launch } from './launch.js';

export async function startLaunch(launch: Launch, options: SpawnOptions): Promise<SandboxedProcess> {
  const env = { ...options.env, ...launch.env };
  let inner: RunningProcess;
  try {
    inner = await spawnWithPipes(launch.argv, { ...options, env, cwd: '/' }, launch.fds);
  } catch (error) {
    await launch.finish();
    throw error;
  }
  launch.started();
  const listeners: ((bytes: Buffer) => void)[] = [];
  const exited = inner.exited.then(async (exit) => {
    const refused = launch.refusedHosts().map((host) => `network access to ${host} was refused`);
    const violations = (await launch.finish()).map(({ text }) => text);
    for (const note of [...refused, ...violations]) {
      for (const listener of listeners) listener(Buffer.from(`sandbox: ${note}\n`));
    }
    return exit;
  });
  // `exited` has its own readers; this keeps a failure from being reported as unhandled before they come.
  exited.catch(() => undefined);
  const kill = (signal: NodeJS.Signals): void => {
    const { childPid } = launch.status();
    if (signal === 'SIGKILL' || childPid === undefined) inner.kill('SIGKILL');
    else killGroup(childPid, signal);
  };
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
    async terminate(graceMs = 500) {
      kill('SIGTERM');
      const timer = setTimeout(() => inner.kill('SIGKILL'), graceMs);
      await exited;
      clearTimeout(timer);
    },
  };
}

function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // It is gone already.
  }
}

/** The backend: chooses what can enforce a policy on this machine, and starts programs under it. */
import type { RunningProcess } from '../process/index.js';
import type { SandboxBackend } from './backend.js';
import { prepareLaunch } from './bwrap/launch.js';
import { startLaunch } from './bwrap/run.js';
import { type Machine, type MachineOptions, openMachine } from './machine.js';
import { requireProgram } from './program.js';
import { spawnWithPipes } from './spawn-pipes.js';

export type SandboxBackendOptions = MachineOptions;

/**
 * Never rejects because of a missing sandbox: commands with full access must still run. Restricted ones are then
 * refused by `spawn` with `TW_SANDBOX_UNAVAILABLE`, which names the cause, the fix and the explicit ways out.
 */
export async function createSandboxBackend(options: SandboxBackendOptions = {}): Promise<SandboxBackend> {
  return backendOf(await openMachine(options));
}

/** Runs programs without any sandbox: for `danger-full-access` and for people who isolate by other means. */
export function createPlainBackend(): SandboxBackend {
  return {
    name: 'none',
    spawn: async (argv, options, signal) => await abortable(spawnWithPipes(argv, options, []), signal),
  };
}

export function backendOf(machine: Machine): SandboxBackend {
  const plain = createPlainBackend();
  return {
    name: machine.probe.ok ? 'bwrap' : 'unavailable',
    async spawn(argv, options, signal) {
      signal.throwIfAborted();
      const policy = machine.resolve(options.policy);
      if (policy === undefined) return await plain.spawn(argv, options, signal);
      const context = machine.bwrap();
      requireProgram(argv[0] ?? '', options);
      const launch = await prepareLaunch(context, { policy, cwd: options.cwd, tty: options.tty, argv });
      return await abortable(startLaunch(launch, options), signal);
    },
  };
}

async function abortable(started: Promise<RunningProcess>, signal: AbortSignal): Promise<RunningProcess> {
  const running = await started;
  if (!signal.aborted) return running;
  running.kill('SIGKILL');
  await running.exited;
  throw signal.reason;
}

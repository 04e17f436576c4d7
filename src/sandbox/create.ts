/** The backend: chooses what can enforce a policy on this machine, and starts programs under it. */
import { type RunningProcess, type SpawnOptions, spawnProcess } from '../process/index.js';
import { TurnwrightError } from '../protocol/index.js';
import { verifyAfter } from './after.js';
import type { SandboxBackend, SandboxedProcess } from './backend.js';
import { prepareLaunch } from './bwrap/launch.js';
import { startLaunch } from './bwrap/run.js';
import { startUnderLandlock } from './landlock/run.js';
import { takeSnapshot } from './landlock/snapshot.js';
import type { LandlockContext } from './landlock/workers.js';
import { type Machine, type MachineOptions, openMachine, sandboxUnavailable } from './machine.js';
import { planSandbox } from './plan/plan.js';
import type { ResolvedPolicy } from './plan/policy.js';
import { requireProgram } from './program.js';
import { startSeatbelt } from './seatbelt/run.js';

export type SandboxBackendOptions = MachineOptions;

export interface ClosableBackend extends SandboxBackend {
  /** Ends network sessions and restricted threads. Commands still running lose their way out. */
  close(): Promise<void>;
}

/**
 * Never rejects because of a missing sandbox: commands with full access must still run. Restricted ones are then
 * refused by `spawn` with `TW_SANDBOX_UNAVAILABLE`, which names the cause, the fix and the explicit ways out.
 */
export async function createSandboxBackend(options: SandboxBackendOptions = {}): Promise<ClosableBackend> {
  return backendOf(await openMachine(options));
}

/** Runs programs without any sandbox: for `danger-full-access` and for people who isolate by other means. */
export function createPlainBackend(): SandboxBackend {
  return { name: 'none', spawn: async (argv, options, signal) => await abortable(spawnProcess(argv, options), signal) };
}

export function backendOf(machine: Machine): ClosableBackend {
  const plain = createPlainBackend();
  return {
    name: machine.tier,
    async spawn(argv, options, signal) {
      signal.throwIfAborted();
      const policy = machine.resolve(options.policy);
      if (policy === undefined) {
        await machine.settle();
        return await plain.spawn(argv, options, signal);
      }
      requireProgram(argv[0] ?? '', options);
      return await abortable(start(machine, policy, argv, options), signal);
    },
    close: () => machine.close(),
  };
}

async function start(
  machine: Machine,
  policy: ResolvedPolicy,
  argv: readonly string[],
  options: SpawnOptions,
): Promise<SandboxedProcess> {
  if (machine.tier === 'seatbelt')
    return await startSeatbelt(await machine.seatbelt(policy, options.cwd, argv), options);
  if (!machine.probe.ok) return await startFallback(machine, await fallback(machine, policy), policy, argv, options);
  const launch = await prepareLaunch(machine.bwrap(), { policy, cwd: options.cwd, tty: options.tty, argv });
  return await startLaunch(launch, options);
}

/** @throws TurnwrightError `TW_SANDBOX_UNAVAILABLE` naming both causes when Landlock does not suffice either. */
export async function fallback(machine: Machine, policy: ResolvedPolicy): Promise<LandlockContext> {
  if (machine.tier === 'unsupported') throw sandboxUnavailable(machine.probe);
  try {
    return await machine.landlock(policy);
  } catch (error) {
    const second = error instanceof TurnwrightError ? error.message : undefined;
    throw sandboxUnavailable(machine.probe, second);
  }
}

function startFallback(
  machine: Machine,
  context: LandlockContext,
  policy: ResolvedPolicy,
  argv: readonly string[],
  options: SpawnOptions,
): Promise<SandboxedProcess> {
  return startUnderLandlock({ ...context, policy, after: watchProtected(machine, policy, options.cwd) }, argv, options);
}

/** Landlock locks nothing inside a root: what is protected there is remembered now and compared afterwards. */
export function watchProtected(machine: Machine, policy: ResolvedPolicy, cwd: string) {
  if (policy.roots.length === 0) return () => [];
  const plan = planSandbox(policy, cwd, machine.host, machine.files);
  const missing = plan.entries.flatMap(({ path, placeholder }) => (placeholder === undefined ? [] : [path]));
  const snapshot = takeSnapshot(plan);
  const after = { ...plan, mustStayMissing: [...plan.mustStayMissing, ...missing] };
  return () => [...snapshot.compare(), ...verifyAfter(after, machine.files)];
}

async function abortable<P extends RunningProcess>(starting: Promise<P>, signal: AbortSignal): Promise<P> {
  const running = await starting;
  if (!signal.aborted) return running;
  running.kill('SIGKILL');
  await running.exited;
  throw signal.reason;
}

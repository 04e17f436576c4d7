/** A command under `sandbox-exec`. Paths that must not appear are compared afterwards, as under bubblewrap. */
import { type ProcessExit, type SpawnOptions, spawnProcess } from '../../process/index.js';
import { type Violation, verifyAfter } from '../after.js';
import type { SandboxedProcess } from '../backend.js';
import { sandboxEnvironment } from '../environment.js';
import type { FileView } from '../files.js';
import type { NetworkSession } from '../network/session.js';
import { planSandbox } from '../plan/plan.js';
import type { ResolvedPolicy, SandboxHost } from '../plan/policy.js';
import { seatbeltArgv, seatbeltProfile } from './profile.js';

export interface SeatbeltLaunch {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  refusedHosts(): readonly string[];
  finish(): readonly Violation[];
}

export interface SeatbeltRequest {
  readonly policy: ResolvedPolicy;
  readonly cwd: string;
  readonly host: SandboxHost;
  readonly files: FileView;
  readonly session: NetworkSession | undefined;
}

export function prepareSeatbelt(request: SeatbeltRequest, argv: readonly string[]): SeatbeltLaunch {
  const { policy, session } = request;
  const plan = planSandbox(policy, request.cwd, request.host, request.files);
  const network = policy.network.kind === 'proxied' ? { proxyPort: session?.port ?? 0 } : policy.network.kind;
  const profile = seatbeltProfile({ entries: plan.entries, network, unixSockets: policy.unixSockets !== 'deny' });
  const ticket = session?.admit(argv.join(' ').slice(0, 500));
  return {
    argv: seatbeltArgv(profile, argv),
    env: { ...ticket?.env, ...sandboxEnvironment('seatbelt', policy.network), CODEX_SANDBOX: 'seatbelt' },
    refusedHosts: () => ticket?.refusedHosts() ?? [],
    finish() {
      ticket?.release();
      return verifyAfter(plan, request.files);
    },
  };
}

export async function startSeatbelt(launch: SeatbeltLaunch, options: SpawnOptions): Promise<SandboxedProcess> {
  const inner = await spawnProcess(launch.argv, { ...options, env: { ...options.env, ...launch.env } });
  const listeners: ((bytes: Buffer) => void)[] = [];
  const exited = inner.exited.then((exit): ProcessExit => {
    for (const { text } of launch.finish()) {
      for (const listener of listeners) listener(Buffer.from(`sandbox: ${text}\n`));
    }
    return exit;
  });
  exited.catch(() => undefined);
  return {
    ...inner,
    exited,
    refusedHosts: () => launch.refusedHosts(),
    onOutput(listener) {
      listeners.push(listener);
      inner.onOutput(listener);
    },
  };
}

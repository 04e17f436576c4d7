/** What is known about this machine and shared by every run: state, claims, file view, and what bubblewrap can do. */
import { homedir } from 'node:os';
import { type SandboxPolicy, TurnwrightError } from '../protocol/index.js';
import { findBwrap } from './bwrap/find.js';
import type { LaunchContext } from './bwrap/launch.js';
import { type BwrapProbe, probeBwrap } from './bwrap/probe.js';
import { Claims } from './claims.js';
import { keepDescriptorsOut } from './descriptors.js';
import { createFileView, type FileView } from './files.js';
import { type LandlockContext, LandlockWorkers } from './landlock/workers.js';
import type { ProxiedPolicy } from './network/decide.js';
import { type NetworkOptions, NetworkSessions } from './network/sessions.js';
import { type ResolvedPolicy, resolvePolicy, type SandboxHost } from './plan/policy.js';
import { prepareSeatbelt, type SeatbeltLaunch } from './seatbelt/run.js';
import { filterArch } from './seccomp/filter.js';
import { openState, type SandboxState } from './state.js';

export interface MachineOptions extends NetworkOptions {
  /** Where our own files live. Default: the user's state home. Processes over one workspace should share it. */
  readonly stateDir?: string;
  /** Directories with configuration, ours and the ecosystem's; never writable from inside. */
  readonly configHomes?: readonly string[];
  /** Told once about anything weaker or left out: a degraded tier, a root that does not exist. */
  readonly onNotice?: (notice: string) => void;
}

export interface Machine {
  readonly host: SandboxHost;
  readonly state: SandboxState;
  readonly files: FileView;
  readonly tier: 'bwrap' | 'landlock' | 'seatbelt' | 'unsupported';
  readonly probe: BwrapProbe;
  /** Undefined for the modes that wrap nothing. Each policy is resolved once: its roots stay where they were. */
  resolve(policy: SandboxPolicy): ResolvedPolicy | undefined;
  /** @throws TurnwrightError `TW_SANDBOX_UNAVAILABLE` when bubblewrap does not work here. */
  bwrap(): LaunchContext;
  /** macOS: the profile of a policy enforced by `sandbox-exec`. */
  seatbelt(policy: ResolvedPolicy, cwd: string, argv: readonly string[]): Promise<SeatbeltLaunch>;
  /** @throws TurnwrightError `TW_SANDBOX_UNAVAILABLE` where Landlock cannot express the policy or is not there. */
  landlock(policy: ResolvedPolicy): Promise<LandlockContext>;
  /** Removes stand-ins that no command uses now, before something runs outside the sandbox and finds them. */
  settle(): Promise<void>;
  /** Ends the network sessions, removes stand-ins. */
  close(): Promise<void>;
}

export async function openMachine(options: MachineOptions = {}): Promise<Machine> {
  const state = openState(options.stateDir);
  const host = describeHost(state, options);
  const files = createFileView();
  const path = findBwrap(options.searchPath ?? process.env['PATH'] ?? '', options.distrusted ?? []);
  const probe = process.platform === 'linux' ? await probeBwrap(path, state, host.uid) : noLinux(process.platform);
  const notice = options.onNotice ?? (() => undefined);
  if (probe.ok) for (const weakness of probe.degraded) notice(`sandbox is degraded: ${weakness}`);
  const leaking = await keepDescriptorsOut();
  if (leaking.length > 0)
    notice(`descriptors ${leaking.join(', ')} of this process reach commands; install koffi, or close them`);
  const claims = new Claims(state);
  const resolved = new Map<string, ResolvedPolicy | undefined>();
  const networks = new NetworkSessions(state, options);
  const landlocks = new LandlockWorkers(state, notice);
  return {
    host,
    state,
    files,
    probe,
    tier: tierOf(probe),
    settle: () => claims.flush(),
    async close() {
      await networks.close();
      await landlocks.close();
      await claims.close();
    },
    async seatbelt(policy, cwd, argv) {
      const proxied = policy.network.kind === 'proxied' ? policy.network : undefined;
      const session = proxied === undefined ? undefined : await networks.open(proxied, undefined);
      return prepareSeatbelt({ policy, cwd, host, files, session }, argv);
    },
    landlock: (policy) => landlocks.open(policy),
    resolve(policy) {
      const key = JSON.stringify(policy);
      if (resolved.has(key)) return resolved.get(key);
      const found = resolvePolicy(policy, host, files);
      for (const warning of found?.warnings ?? []) notice(warning);
      resolved.set(key, found);
      return found;
    },
    bwrap() {
      const arch = filterArch(process.arch);
      if (!probe.ok || arch === undefined) throw sandboxUnavailable(probe);
      const network = (policy: ProxiedPolicy) => networks.open(policy, probe);
      return { probe, arch, state, claims, host, files, network };
    },
  };
}

function tierOf(probe: BwrapProbe): Machine['tier'] {
  if (process.platform === 'darwin') return 'seatbelt';
  if (process.platform !== 'linux') return 'unsupported';
  return probe.ok ? 'bwrap' : 'landlock';
}

/** Windows is refused honestly: half a sandbox would be worse than none. */
function noLinux(platform: NodeJS.Platform): BwrapProbe {
  const fix = platform === 'win32' ? 'run turnwright inside WSL2' : 'run turnwright on Linux or macOS';
  return {
    ok: false,
    stderr: '',
    failure: { cause: 'unsupported', what: `${platform} has no sandbox for commands`, fix },
  };
}

/** The one message for a machine that cannot enforce a policy: cause, fix, and the explicit ways out. */
export function sandboxUnavailable(probe: BwrapProbe, second?: string): TurnwrightError {
  const failure = probe.ok
    ? { what: `there is no filter for ${process.arch}`, fix: 'use x86_64 or arm64' }
    : probe.failure;
  return new TurnwrightError(
    'TW_SANDBOX_UNAVAILABLE',
    `no sandbox on this machine: ${failure.what}${second === undefined ? '' : `, and ${second}`}; ${failure.fix}. Until then a command can only run outside the ` +
      'sandbox: approve it for this once, or set sandbox_mode = "danger-full-access"',
    { facts: { ...(probe.ok ? {} : { cause: probe.failure.cause, stderr: probe.stderr }) } },
  );
}

function describeHost(state: SandboxState, options: MachineOptions): SandboxHost {
  const tmpdir = process.env['TMPDIR'];
  return {
    uid: process.getuid?.() ?? 0,
    ...(tmpdir === undefined || tmpdir === '' ? {} : { tmpdir }),
    home: homedir(),
    stateDir: state.dir,
    configHomes: options.configHomes ?? [],
    socketPlaces: ['XDG_RUNTIME_DIR', 'SSH_AUTH_SOCK'].flatMap((name) => process.env[name] || []),
  };
}

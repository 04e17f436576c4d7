/** What is known about this machine and shared by every run: state, claims, file view, and what bubblewrap can do. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type SandboxPolicy, TurnwrightError } from '../protocol/index.js';
import { findBwrap, findProgram } from './bwrap/find.js';
import type { LaunchContext } from './bwrap/launch.js';
import { type BwrapProbe, probeBwrap } from './bwrap/probe.js';
import { Claims } from './claims.js';
import { createFileView, type FileView } from './files.js';
import { auditTo } from './network/audit.js';
import type { ProxiedPolicy } from './network/decide.js';
import type { AuditRecord, NetworkAsker } from './network/gate.js';
import { type NetworkSession, openNetworkSession } from './network/session.js';
import { type ResolvedPolicy, resolvePolicy, type SandboxHost } from './plan/policy.js';
import { filterArch } from './seccomp/filter.js';
import { openState, type SandboxState } from './state.js';

export interface MachineOptions {
  /** Where our own files live. Default: the user's state home. Processes over one workspace should share it. */
  readonly stateDir?: string;
  /** Directories with configuration, ours and the ecosystem's; never writable from inside. */
  readonly configHomes?: readonly string[];
  /** Where to look for `bwrap`. Default: `PATH` of this process. */
  readonly searchPath?: string;
  /** Directories in which a `bwrap` is not trusted: the workspace and the writable roots. */
  readonly distrusted?: readonly string[];
  /** Asked about hosts that a network policy does not name. Without one they are refused. */
  readonly networkAsker?: NetworkAsker;
  /** Told of every network decision, beside the file `network.jsonl` in the state directory. */
  readonly onNetwork?: (record: AuditRecord) => void;
  /** Told once about anything weaker or left out: a degraded tier, a root that does not exist. */
  readonly onNotice?: (notice: string) => void;
}

export interface Machine {
  readonly host: SandboxHost;
  readonly state: SandboxState;
  readonly files: FileView;
  readonly probe: BwrapProbe;
  /** Undefined for the modes that wrap nothing. Each policy is resolved once: its roots stay where they were. */
  resolve(policy: SandboxPolicy): ResolvedPolicy | undefined;
  /** @throws TurnwrightError `TW_SANDBOX_UNAVAILABLE` when bubblewrap does not work here. */
  bwrap(): LaunchContext;
  /** Ends the network sessions. */
  close(): Promise<void>;
}

export async function openMachine(options: MachineOptions = {}): Promise<Machine> {
  const state = openState(options.stateDir);
  const host = describeHost(state, options);
  const files = createFileView();
  const path = findBwrap(options.searchPath ?? process.env['PATH'] ?? '', options.distrusted ?? []);
  const probe = await probeBwrap(path, state, host.uid);
  const notice = options.onNotice ?? (() => undefined);
  if (probe.ok) for (const weakness of probe.degraded) notice(`sandbox is degraded: ${weakness}`);
  const claims = new Claims(state);
  const resolved = new Map<string, ResolvedPolicy | undefined>();
  const networks = new NetworkSessions(state, options);
  return {
    host,
    state,
    files,
    probe,
    close: () => networks.close(),
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

/** One session per distinct network policy; a new one when its anchor died. */
class NetworkSessions {
  readonly #open = new Map<string, Promise<NetworkSession>>();
  readonly #options: MachineOptions;
  readonly #audit: (record: AuditRecord) => void;

  constructor(state: SandboxState, options: MachineOptions) {
    this.#options = options;
    const file = auditTo(join(state.dir, 'network.jsonl'));
    this.#audit = (record) => {
      file(record);
      options.onNetwork?.(record);
    };
  }

  async open(policy: ProxiedPolicy, probe: Extract<BwrapProbe, { ok: true }>): Promise<NetworkSession> {
    const key = JSON.stringify(policy);
    const known = this.#open.get(key) ?? this.#begin(key, policy, probe);
    const session = await known;
    if (session.alive) return session;
    // Whoever comes first replaces a dead one; the others find the new one.
    const replaced = this.#open.get(key);
    return await (replaced === undefined || replaced === known ? this.#begin(key, policy, probe) : replaced);
  }

  #begin(key: string, policy: ProxiedPolicy, probe: Extract<BwrapProbe, { ok: true }>): Promise<NetworkSession> {
    const opening = this.#start(policy, probe);
    this.#open.set(key, opening);
    opening.catch(() => this.#open.delete(key));
    return opening;
  }

  async close(): Promise<void> {
    const sessions = [...this.#open.values()];
    this.#open.clear();
    for (const session of await Promise.allSettled(sessions)) {
      if (session.status === 'fulfilled') await session.value.close();
    }
  }

  async #start(policy: ProxiedPolicy, probe: Extract<BwrapProbe, { ok: true }>): Promise<NetworkSession> {
    const { networkAsker, searchPath, distrusted } = this.#options;
    const nsenterPath = findProgram('nsenter', searchPath ?? process.env['PATH'] ?? '', distrusted ?? []);
    if (nsenterPath === undefined || !probe.networkNamespace) {
      throw new TurnwrightError(
        'TW_SANDBOX_UNAVAILABLE',
        'network access by allow list needs nsenter (package util-linux) and network namespaces; install it, or ' +
          'configure the network as off or full',
      );
    }
    const asker = networkAsker === undefined ? {} : { asker: networkAsker };
    return await openNetworkSession({ bwrapPath: probe.path, nsenterPath, policy, audit: this.#audit, ...asker });
  }
}

/** The one message for a machine that cannot enforce a policy: cause, fix, and the explicit ways out. */
export function sandboxUnavailable(probe: BwrapProbe): TurnwrightError {
  const failure = probe.ok
    ? { what: `there is no filter for ${process.arch}`, fix: 'use x86_64 or arm64' }
    : probe.failure;
  return new TurnwrightError(
    'TW_SANDBOX_UNAVAILABLE',
    `no sandbox on this machine: ${failure.what}; ${failure.fix}. Until then a command can only run outside the ` +
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

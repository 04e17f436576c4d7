/** The network sessions of one process. */
import { join } from 'node:path';
import { TurnwrightError } from '../../protocol/index.js';
import { findProgram } from '../bwrap/find.js';
import type { BwrapProbe } from '../bwrap/probe.js';
import type { SandboxState } from '../state.js';
import { auditTo } from './audit.js';
import type { ProxiedPolicy } from './decide.js';
import type { AuditRecord, NetworkAsker } from './gate.js';
import { type NetworkSession, openLocalSession, openNetworkSession } from './session.js';

export interface NetworkOptions {
  /** Asked about hosts that a network policy does not name. Without one they are refused. */
  readonly networkAsker?: NetworkAsker;
  /** Told of every network decision, beside the file `network.jsonl` in the state directory. */
  readonly onNetwork?: (record: AuditRecord) => void;
  /** Where to look for `bwrap` and `nsenter`. Default: `PATH` of this process. */
  readonly searchPath?: string;
  /** Directories in which neither is trusted: the workspace and the writable roots. */
  readonly distrusted?: readonly string[];
}

type WorkingBwrap = Extract<BwrapProbe, { ok: true }>;

/** One session per distinct network policy; a new one when its anchor died. Without bubblewrap, a port of the host. */
export class NetworkSessions {
  readonly #open = new Map<string, Promise<NetworkSession>>();
  readonly #options: NetworkOptions;
  readonly #audit: (record: AuditRecord) => void;

  constructor(state: SandboxState, options: NetworkOptions) {
    this.#options = options;
    const file = auditTo(join(state.dir, 'network.jsonl'));
    this.#audit = (record) => {
      file(record);
      options.onNetwork?.(record);
    };
  }

  async open(policy: ProxiedPolicy, probe: WorkingBwrap | undefined): Promise<NetworkSession> {
    const key = JSON.stringify(policy);
    const known = this.#open.get(key) ?? this.#begin(key, policy, probe);
    const session = await known;
    if (session.alive) return session;
    // Whoever comes first replaces a dead one; the others find the new one.
    const replaced = this.#open.get(key);
    return await (replaced === undefined || replaced === known ? this.#begin(key, policy, probe) : replaced);
  }

  #begin(key: string, policy: ProxiedPolicy, probe: WorkingBwrap | undefined): Promise<NetworkSession> {
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

  async #start(policy: ProxiedPolicy, probe: WorkingBwrap | undefined): Promise<NetworkSession> {
    const { networkAsker, searchPath, distrusted } = this.#options;
    const asker = networkAsker === undefined ? {} : { asker: networkAsker };
    if (probe === undefined) return await openLocalSession({ policy, audit: this.#audit, ...asker });
    const nsenterPath = findProgram('nsenter', searchPath ?? process.env['PATH'] ?? '', distrusted ?? []);
    if (nsenterPath === undefined || !probe.networkNamespace) {
      throw new TurnwrightError(
        'TW_SANDBOX_UNAVAILABLE',
        'network access by allow list needs nsenter (package util-linux) and network namespaces; install it, or ' +
          'configure the network as off or full',
      );
    }
    return await openNetworkSession({ bwrapPath: probe.path, nsenterPath, policy, audit: this.#audit, ...asker });
  }
}

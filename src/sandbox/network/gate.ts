/**
 * The one way out for a proxied command: canonicalise, decide, ask if nobody said, check the address, dial the very
 * address that was checked, write it down.
 */
import { lookup } from 'node:dns/promises';
import { connect, type Socket } from 'node:net';
import { isPublicAddress } from './address.js';
import { decideHost, namesExactly, type ProxiedPolicy, type RefusalReason } from './decide.js';
import { canonicalHost, type Host } from './host.js';

export interface NetworkCommand {
  readonly id: string;
  /** The command line, for people. */
  readonly text: string;
}

export interface NetworkQuestion {
  readonly host: string;
  readonly port: number;
  readonly protocol: Protocol;
  /** Absent when the connection carried no credentials. */
  readonly command?: NetworkCommand;
}
/** `session`: until the sandbox is closed. To remember for good, the asker changes the policy itself. */
export type NetworkAnswer = 'once' | 'session' | 'deny';
export type NetworkAsker = (question: NetworkQuestion, signal: AbortSignal) => Promise<NetworkAnswer>;

export type Protocol = 'http' | 'connect' | 'socks';

/** One line of the audit: a refusal when it happens, an allowed connection when it ends. */
export interface AuditRecord {
  /** ISO 8601. */
  readonly ts: string;
  readonly commandId?: string;
  readonly command?: string;
  readonly protocol: Protocol;
  readonly host: string;
  readonly port: number;
  readonly address?: string;
  readonly decision: 'allow' | 'refuse';
  /** The pattern that decided, `asked`, or the reason of a refusal. */
  readonly rule: string;
  readonly bytesIn?: number;
  readonly bytesOut?: number;
}

export interface GateOptions {
  readonly policy: ProxiedPolicy;
  readonly asker?: NetworkAsker;
  readonly audit: (record: AuditRecord) => void;
  /** Called for every refusal that can be laid to a command. */
  readonly onRefusal: (command: NetworkCommand | undefined, host: string, port: number) => void;
  /** All addresses of a name. Replaceable in tests. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
  readonly connect?: (address: string, port: number) => Socket;
}

export interface Attempt {
  readonly protocol: Protocol;
  readonly host: string;
  readonly port: number;
  readonly command: NetworkCommand | undefined;
}

export type Dialled =
  | { readonly ok: true; readonly host: string; readonly socket: Socket }
  | { readonly ok: false; readonly reason: RefusalReason; readonly text: string };

const ASK_LIMIT_MS = 60_000;
const DIAL_LIMIT_MS = 30_000;

export class NetworkGate {
  readonly #options: GateOptions;
  readonly #granted = new Set<string>();
  readonly #asking = new Map<string, Promise<NetworkAnswer>>();
  readonly #closed = new AbortController();

  constructor(options: GateOptions) {
    this.#options = options;
  }

  close(): void {
    this.#closed.abort();
  }

  async dial(attempt: Attempt): Promise<Dialled> {
    const host = canonicalHost(attempt.host);
    if (host === undefined) return this.#refuse(attempt, 'bad-host', 'bad-host');
    const verdict = decideHost(this.#options.policy, host, attempt.port);
    if (verdict.kind === 'refuse') return this.#refuse(attempt, verdict.reason, verdict.rule ?? verdict.reason);
    const rule = verdict.kind === 'allow' ? verdict.rule : await this.#ask(attempt, host);
    if (rule === undefined) return this.#refuse(attempt, 'not-listed', 'not-listed');
    const addresses = await this.#addresses(host, rule);
    if (addresses === undefined) return this.#refuse(attempt, 'dns', 'dns');
    if (addresses.length === 0) return this.#refuse(attempt, 'local-address', 'local-address');
    return await this.#connect(attempt, host, rule, addresses);
  }

  refuseMethod(attempt: Attempt): Dialled {
    return this.#refuse(attempt, 'method', 'limited');
  }

  #refuse(attempt: Attempt, reason: RefusalReason, rule: string): Dialled {
    this.#record(attempt, { decision: 'refuse', rule });
    this.#options.onRefusal(attempt.command, attempt.host, attempt.port);
    const place = `${printable(attempt.host)}:${attempt.port}`;
    return { ok: false, reason, text: `network access to ${place} is refused by the sandbox (${reason})` };
  }

  /** The rule that lets it pass, or undefined. One question per host and port for all who wait. */
  async #ask(attempt: Attempt, host: Host): Promise<string | undefined> {
    const key = `${host.host}:${attempt.port}`;
    if (this.#granted.has(key)) return 'asked';
    const { asker } = this.#options;
    if (asker === undefined) return undefined;
    const waiting = this.#asking.get(key) ?? this.#question(asker, attempt, host, key);
    const answer = await waiting;
    if (answer === 'session') this.#granted.add(key);
    return answer === 'deny' ? undefined : 'asked';
  }

  #question(asker: NetworkAsker, attempt: Attempt, host: Host, key: string): Promise<NetworkAnswer> {
    const signal = AbortSignal.any([this.#closed.signal, AbortSignal.timeout(ASK_LIMIT_MS)]);
    const { command } = attempt;
    const question: NetworkQuestion = {
      host: host.host,
      port: attempt.port,
      protocol: attempt.protocol,
      ...(command === undefined ? {} : { command }),
    };
    const late = new Promise<NetworkAnswer>((resolve) =>
      signal.addEventListener('abort', () => resolve('deny'), { once: true }),
    );
    const answer = Promise.race([asker(question, signal).catch((): NetworkAnswer => 'deny'), late]).finally(() =>
      this.#asking.delete(key),
    );
    this.#asking.set(key, answer);
    return answer;
  }

  /** Undefined: the name does not resolve. Empty: it does, but only to places a name may not lead to. */
  async #addresses(host: Host, rule: string): Promise<readonly string[] | undefined> {
    const exact = namesExactly(rule, host);
    if (host.kind !== 'name') return exact || isPublicAddress(host.host) ? [host.host] : [];
    if (host.host === 'localhost') return exact ? ['127.0.0.1', '::1'] : [];
    const found = await (this.#options.resolve ?? resolveName)(host.host).catch(() => []);
    return found.length === 0 ? undefined : found.filter((address) => isPublicAddress(address));
  }

  async #connect(attempt: Attempt, host: Host, rule: string, addresses: readonly string[]): Promise<Dialled> {
    for (const address of addresses) {
      const socket = await open((this.#options.connect ?? connectTo)(address, attempt.port));
      if (socket === undefined) continue;
      socket.once('close', () =>
        this.#record(attempt, {
          decision: 'allow',
          rule,
          address,
          bytesIn: socket.bytesRead,
          bytesOut: socket.bytesWritten,
        }),
      );
      return { ok: true, host: host.host, socket };
    }
    // Allowed, but nobody answers: the audit still shows the attempt.
    this.#record(attempt, { decision: 'allow', rule, address: addresses[0]!, bytesIn: 0, bytesOut: 0 });
    return { ok: false, reason: 'unreachable', text: `${printable(attempt.host)}:${attempt.port} cannot be reached` };
  }

  #record(attempt: Attempt, rest: Pick<AuditRecord, 'decision' | 'rule'> & Partial<AuditRecord>): void {
    const { command } = attempt;
    this.#options.audit({
      ts: new Date().toISOString(),
      ...(command === undefined ? {} : { commandId: command.id, command: command.text }),
      protocol: attempt.protocol,
      host: printable(attempt.host),
      port: attempt.port,
      ...rest,
    });
  }
}

async function resolveName(name: string): Promise<readonly string[]> {
  return (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address);
}

function connectTo(address: string, port: number): Socket {
  return connect({ host: address, port, noDelay: true });
}

function open(socket: Socket): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const limit = setTimeout(() => socket.destroy(), DIAL_LIMIT_MS);
    socket.once('connect', () => resolve(socket));
    socket.once('close', () => resolve(undefined));
    socket.on('error', () => socket.destroy());
    socket.once('connect', () => clearTimeout(limit));
    socket.once('close', () => clearTimeout(limit));
  });
}

function printable(host: string): string {
  return host.slice(0, 255).replace(/[^\u0021-\u007e]/g, '?');
}

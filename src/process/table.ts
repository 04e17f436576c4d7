/** The commands of a thread that run or have output nobody has read. They end with the thread. */
import { randomInt } from 'node:crypto';
import { nextMark } from './live-processes.js';
import { ProcessTree } from './tree.js';

/** At most this many sessions are kept; a further one ends the least useful. */
export const MAX_SESSIONS = 64;
/** From here on the model is told that sessions pile up. */
export const WARN_SESSIONS = 60;
/** The most recently used sessions are never chosen to make room. */
const PROTECTED_SESSIONS = 8;
const GRACE_MS = 2000;

export interface TableEntry {
  readonly hasExited: boolean;
  /** Ends the whole tree of the command. */
  terminate(): Promise<void>;
}

export class ProcessTable implements AsyncDisposable {
  /** In order of last use, oldest first. */
  readonly #entries = new Map<number, TableEntry>();
  readonly #scope = nextMark();
  readonly #ending = new Set<Promise<void>>();
  #disposed = false;
  /** Some command may have been started: looking for what is left of them costs a walk over all processes. */
  #isUsed = false;

  /** The mark for one command's environment; `dispose` finds everything that carries one. */
  nextMark(): string {
    this.#isUsed = true;
    return nextMark(this.#scope);
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * Keeps an entry under a new session id (random, 1000 to 99999). A full table first ends one: of all but the 8 most
   * recently used an exited one, else the least recently used (as Codex 0.171).
   */
  add(entry: TableEntry): number {
    if (this.#entries.size >= MAX_SESSIONS) this.#prune();
    let id = randomInt(1000, 100_000);
    while (this.#entries.has(id)) id = randomInt(1000, 100_000);
    this.#entries.set(id, entry);
    if (this.#disposed) this.#end(entry);
    return id;
  }

  /** The entry, which counts as used now. */
  get(id: number): TableEntry | undefined {
    const entry = this.#entries.get(id);
    if (!entry) return undefined;
    this.#entries.delete(id);
    this.#entries.set(id, entry);
    return entry;
  }

  remove(id: number): void {
    this.#entries.delete(id);
  }

  /** Ends every command, also what finished commands left behind. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    for (const entry of this.#entries.values()) this.#end(entry);
    await Promise.all(this.#ending);
    if (this.#isUsed) await new ProcessTree(this.#scope).end(GRACE_MS);
    this.#entries.clear();
  }

  #prune(): void {
    const candidates = [...this.#entries].slice(0, -PROTECTED_SESSIONS);
    const chosen = candidates.find(([, entry]) => entry.hasExited) ?? candidates[0];
    if (!chosen) return;
    this.#entries.delete(chosen[0]);
    this.#end(chosen[1]);
  }

  /** `dispose` waits for it and sees its failure. */
  #end(entry: TableEntry): void {
    const ending = entry.terminate().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}

/** What the patch tool remembers between the calls of a thread. Bounded; nothing here is needed after a restart. */

/** The part of a call's context that matters here. */
interface CallPlace {
  readonly threadId: string;
  readonly turnId: string;
}

interface ThreadEntry {
  /** Argument of the last call, if it failed. */
  failedArgument?: string;
  turnId?: string;
  /** Targets of patches of this turn that were accepted and have not written yet. One entry per call. */
  open: (readonly string[])[];
  /** Settles when the calls before are parsed. */
  parsed: Promise<unknown>;
}

/** Threads beyond this are forgotten, the one idle longest first. */
const MAX_THREADS = 256;

export class ThreadMemory {
  readonly #threads = new Map<string, ThreadEntry>();

  /** Runs one thread's `action`s one after the other, in the order of the calls. */
  inOrder<T>(threadId: string, action: () => Promise<T>): Promise<T> {
    const entry = this.#entry(threadId);
    const result = entry.parsed.then(action, action);
    entry.parsed = result.catch(() => {}); // `result`'s owner sees its failure
    return result;
  }

  /** True when the same argument failed in the call before. */
  failed(threadId: string, argument: string): boolean {
    const entry = this.#entry(threadId);
    const isRepeated = entry.failedArgument === argument;
    entry.failedArgument = argument;
    return isRepeated;
  }

  succeeded(threadId: string): void {
    delete this.#entry(threadId).failedArgument;
  }

  started(place: CallPlace, targets: readonly string[]): void {
    this.#open(place).push(targets);
  }

  settled(place: CallPlace, targets: readonly string[]): void {
    const open = this.#open(place);
    const index = open.indexOf(targets);
    if (index >= 0) open.splice(index, 1);
  }

  /**
   * An accepted patch of this turn has still to write one of these targets. A patch that was refused after it was
   * accepted counts until the turn ends; all it does is that a later failure is reported after the attempt.
   */
  isAwaited(place: CallPlace, targets: readonly string[]): boolean {
    return this.#open(place).some((other) => other.some((path) => targets.includes(path)));
  }

  #open(place: CallPlace): (readonly string[])[] {
    const entry = this.#entry(place.threadId);
    if (entry.turnId !== place.turnId) {
      entry.turnId = place.turnId;
      entry.open = [];
    }
    return entry.open;
  }

  #entry(threadId: string): ThreadEntry {
    const entry = this.#threads.get(threadId) ?? { open: [], parsed: Promise.resolve() };
    this.#threads.delete(threadId);
    this.#threads.set(threadId, entry);
    if (this.#threads.size > MAX_THREADS) this.#threads.delete(this.#threads.keys().next().value!);
    return entry;
  }
}

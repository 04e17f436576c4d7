/**
 * The thread's log: appends records to the store, folds them into the state, then shows them to subscribers.
 * Appends are queued, so records are stored, applied and shown in one order whoever writes them.
 */
import { AsyncQueue } from '../lib/index.js';
import type { Delta, Stored, ThreadEvent, ThreadRecord } from '../protocol/index.js';
import type { EventStore } from '../store/index.js';
import { apply, INITIAL_STATE, isStrayOutput, type ThreadState } from './machine.js';

export class ThreadLog {
  readonly threadId: string;
  readonly #store: EventStore;
  readonly #subscribers = new Set<AsyncQueue<ThreadEvent>>();
  #state: ThreadState = INITIAL_STATE;
  #seq = 0;
  #strayOutputs = 0;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(threadId: string, store: EventStore) {
    this.threadId = threadId;
    this.#store = store;
  }

  get state(): ThreadState {
    return this.#state;
  }

  /** Sequence number of the last record. */
  get seq(): number {
    return this.#seq;
  }

  /** Outputs among the records so far that answer no call; the state does not have them. */
  get strayOutputs(): number {
    return this.#strayOutputs;
  }

  /** Takes over a record that is already stored. */
  restore(stored: Stored): void {
    if (isStrayOutput(this.#state, stored.record)) this.#strayOutputs++;
    this.#state = apply(this.#state, stored.record);
    this.#seq = stored.seq;
  }

  /** Replaces the state after loading (repair of a damaged history). Never used while a turn runs. */
  resetState(state: ThreadState): void {
    this.#state = state;
  }

  /** Stores records, then applies and shows them. Rejects, with nothing applied, when the store refuses. */
  append(...records: readonly ThreadRecord[]): Promise<void> {
    const done = this.#tail.then(() => this.#write(records));
    this.#tail = done.catch(() => {}); // the caller of this append sees the failure; later appends try again
    return done;
  }

  async #write(records: readonly ThreadRecord[]): Promise<void> {
    const stored = await this.#store.append(this.threadId, this.#seq, records);
    for (const one of stored) {
      this.restore(one);
      this.#show({ kind: 'record', stored: one });
    }
  }

  emit(delta: Delta): void {
    this.#show({ kind: 'delta', delta });
  }

  #show(event: ThreadEvent): void {
    for (const queue of this.#subscribers) queue.push(event);
  }

  /**
   * Records from `fromSeq` on (default: only new ones), then live records and deltas until `endSubscriptions`.
   * The subscription starts with this call, not with the first read, so nothing in between is missed.
   */
  events(fromSeq?: number): AsyncIterable<ThreadEvent> {
    const queue = new AsyncQueue<ThreadEvent>(() => this.#subscribers.delete(queue));
    this.#subscribers.add(queue);
    if (fromSeq === undefined || fromSeq > this.#seq) return queue;
    return this.#storedThenLive(fromSeq, this.#seq, queue);
  }

  async *#storedThenLive(fromSeq: number, joinedAt: number, live: AsyncQueue<ThreadEvent>): AsyncIterable<ThreadEvent> {
    try {
      for await (const stored of this.#store.load(this.threadId)) {
        if (stored.seq > joinedAt) break;
        if (stored.seq >= fromSeq) yield { kind: 'record', stored };
      }
      yield* live;
    } finally {
      this.#subscribers.delete(live);
    }
  }

  /** Subscribers read what is queued, then throw. */
  failSubscriptions(reason: unknown): void {
    for (const queue of this.#subscribers) queue.fail(reason);
  }

  endSubscriptions(): void {
    for (const queue of this.#subscribers) queue.end();
  }
}

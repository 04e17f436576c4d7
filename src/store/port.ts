/** The store port: an append-only log of records per thread. */
import type { Stored, ThreadRecord } from '../protocol/index.js';

export interface EventStore {
  /** All records of a thread in order. Rejects with `TW_THREAD_UNKNOWN`. A torn last line is ignored. */
  load(threadId: string): AsyncIterable<Stored>;
  /**
   * Appends after `afterSeq` (0 for a new thread) and resolves with what was stored once it is safe against a crash of
   * this process. Rejects with `TW_STORE_CONFLICT` when the thread's last record is another one.
   */
  append(threadId: string, afterSeq: number, records: readonly ThreadRecord[]): Promise<readonly Stored[]>;
  /** Releases what it holds for a thread (file handle, lock). The next append takes it again. */
  close(threadId: string): Promise<void>;
}

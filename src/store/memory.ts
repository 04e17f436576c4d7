/** A store that forgets: for ephemeral threads and tests. It obeys the same contract as the file store. */
import { type Clock, systemClock } from '../lib/index.js';
import { type Stored, TurnwrightError } from '../protocol/index.js';
import type { EventStore } from './port.js';
import { unknownThread } from './rollout-files.js';

export function createMemoryStore(clock: Clock = systemClock): EventStore {
  const threads = new Map<string, Stored[]>();
  return {
    async *load(threadId) {
      const records = threads.get(threadId);
      if (!records) throw unknownThread(threadId);
      yield* records.slice();
    },
    append: async (threadId, afterSeq, records) => {
      const log = threads.get(threadId) ?? [];
      if (log.length === 0 && afterSeq > 0) throw unknownThread(threadId);
      if (log.length !== afterSeq)
        throw new TurnwrightError(
          'TW_STORE_CONFLICT',
          `thread ${threadId} has ${log.length} records, not ${afterSeq}: another writer was faster`,
          { facts: { threadId, afterSeq, lastSeq: log.length } },
        );
      const atMs = Math.trunc(clock.nowMs());
      const stored = records.map((record, i): Stored => ({ seq: afterSeq + 1 + i, atMs, record }));
      log.push(...stored);
      threads.set(threadId, log);
      return stored;
    },
    close: async () => {},
  };
}

/** The file store: one append-only JSONL file per thread. */
import { readFile } from 'node:fs/promises';
import type { Clock } from '../lib/index.js';
import { type Stored, type ThreadRecord, TurnwrightError } from '../protocol/index.js';
import type { EventStore } from './port.js';
import { checkThreadId, findRollout, rolloutPathOf, unknownThread } from './rollout-files.js';
import { decodeRollout, encodeLine } from './rollout-line.js';
import { openRolloutWriter, type RolloutWriter } from './rollout-writer.js';

export interface JsonlStoreOptions {
  /** Absolute; created when first needed. */
  readonly home: string;
  readonly clock: Clock;
  /**
   * `process` (default): what is appended survives a crash of this process. `power`: it also survives a power cut, from
   * each `tool.started` and `turn.ended` on, at the price of a flush to the disk.
   */
  readonly durability?: 'process' | 'power';
  /** Told about lines that were skipped. */
  readonly warn?: (message: string) => void;
}

export function createJsonlStore(options: JsonlStoreOptions): EventStore {
  return new JsonlStore(options);
}

class JsonlStore implements EventStore {
  readonly #home: string;
  readonly #clock: Clock;
  readonly #durable: boolean;
  readonly #warn: (message: string) => void;
  readonly #open = new Map<string, Promise<RolloutWriter>>();

  constructor(options: JsonlStoreOptions) {
    this.#home = options.home;
    this.#clock = options.clock;
    this.#durable = options.durability === 'power';
    this.#warn = options.warn ?? (() => {});
  }

  async *load(threadId: string): AsyncGenerator<Stored, void, undefined> {
    const file = await findRollout(this.#home, threadId);
    if (file === undefined) throw unknownThread(threadId);
    yield* decodeRollout(await readFile(file), file, this.#warn);
  }

  async append(threadId: string, afterSeq: number, records: readonly ThreadRecord[]): Promise<readonly Stored[]> {
    const writer = await this.#take(threadId, afterSeq);
    if (writer.lastSeq !== afterSeq) throw conflict(threadId, afterSeq, writer.lastSeq);
    const atMs = Math.trunc(this.#clock.nowMs());
    const stored = records.map((record, i): Stored => ({ seq: afterSeq + 1 + i, atMs, record }));
    if (stored.length === 0) return stored;
    writer.write(stored.map(encodeLine).join(''), afterSeq + stored.length);
    if (this.#durable && records.some(mustSurvivePowerCut)) await writer.flush();
    return stored;
  }

  async close(threadId: string): Promise<void> {
    const open = this.#open.get(threadId);
    this.#open.delete(threadId);
    if (open !== undefined) (await open.catch(() => undefined))?.close();
  }

  /** Opens the thread's file once; a failed opening is tried again by the next append. */
  #take(threadId: string, afterSeq: number): Promise<RolloutWriter> {
    const known = this.#open.get(threadId);
    if (known !== undefined) return known;
    const opening = this.#openThread(threadId, afterSeq);
    this.#open.set(threadId, opening);
    opening.catch(() => this.#open.delete(threadId));
    return opening;
  }

  async #openThread(threadId: string, afterSeq: number): Promise<RolloutWriter> {
    checkThreadId(threadId);
    const found = await findRollout(this.#home, threadId);
    if (found === undefined && afterSeq > 0) throw unknownThread(threadId);
    return openRolloutWriter({
      home: this.#home,
      threadId,
      path: found ?? rolloutPathOf(this.#home, threadId, this.#clock.nowMs()),
      exists: found !== undefined,
      durable: this.#durable,
    });
  }
}

function mustSurvivePowerCut(record: ThreadRecord): boolean {
  return record.type === 'tool.started' || record.type === 'turn.ended';
}

function conflict(threadId: string, afterSeq: number, lastSeq: number): TurnwrightError {
  return new TurnwrightError(
    'TW_STORE_CONFLICT',
    `thread ${threadId} has ${lastSeq} records, not ${afterSeq}: another writer was faster; load the thread again`,
    { facts: { threadId, afterSeq, lastSeq } },
  );
}

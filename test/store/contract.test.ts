/** What every event store promises, checked against each of them. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock, uuidV7 } from '../../src/lib/index.js';
import type { Stored, ThreadRecord } from '../../src/protocol/index.js';
import { createJsonlStore, createMemoryStore, type EventStore } from '../../src/store/index.js';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(path.join(os.tmpdir(), 'tw-store-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const stores: [string, () => EventStore][] = [
  ['memory', () => createMemoryStore()],
  ['jsonl', () => createJsonlStore({ home, clock: systemClock })],
  ['jsonl, surviving power cuts', () => createJsonlStore({ home, clock: systemClock, durability: 'power' })],
];

const say = (message: string): ThreadRecord => ({ type: 'warning', message });
const ended: ThreadRecord = { type: 'turn.ended', turnId: 't', status: 'completed' };

async function all(store: EventStore, id: string): Promise<Stored[]> {
  const records: Stored[] = [];
  for await (const stored of store.load(id)) records.push(stored);
  return records;
}

describe.each(stores)('%s', (_name, create) => {
  let store: EventStore;
  const id = uuidV7(Date.now());
  beforeEach(() => {
    store = create();
  });

  test('gives back what was appended, numbered from 1 without gaps', async () => {
    const first = await store.append(id, 0, [say('a'), say('b')]);
    const second = await store.append(id, 2, [ended]);
    expect([...first, ...second].map((stored) => stored.seq)).toEqual([1, 2, 3]);
    expect(await all(store, id)).toEqual([...first, ...second]);
  });

  test('keeps every character', async () => {
    const text = 'a\nb\r\n\u2028 \u0000 "quoted" \\ 日本語 🎉 \ud800';
    await store.append(id, 0, [say(text)]);
    expect((await all(store, id))[0]?.record).toEqual(say(text));
  });

  test('refuses an append after any other record than the last', async () => {
    await store.append(id, 0, [say('a')]);
    await expect(store.append(id, 0, [say('again')])).rejects.toMatchObject({ code: 'TW_STORE_CONFLICT' });
    await expect(store.append(id, 2, [say('gap')])).rejects.toMatchObject({ code: 'TW_STORE_CONFLICT' });
    await store.append(id, 1, [say('b')]);
    expect(await all(store, id)).toHaveLength(2);
  });

  test('appends that were not waited for keep their order', async () => {
    await Promise.all(Array.from({ length: 50 }, (_, i) => store.append(id, i, [say(`${i}`)])));
    expect((await all(store, id)).map((stored) => stored.record)).toEqual(
      Array.from({ length: 50 }, (_, i) => say(`${i}`)),
    );
  });

  test('does not know a thread that was never written', async () => {
    await expect(all(store, id)).rejects.toMatchObject({ code: 'TW_THREAD_UNKNOWN' });
    await expect(store.append(id, 3, [say('a')])).rejects.toMatchObject({ code: 'TW_THREAD_UNKNOWN' });
  });

  test('an empty append changes nothing', async () => {
    await store.append(id, 0, [say('a')]);
    expect(await store.append(id, 1, [])).toEqual([]);
    expect(await all(store, id)).toHaveLength(1);
  });

  test('goes on after close, also when closed twice or never opened', async () => {
    await store.append(id, 0, [say('a')]);
    await store.close(id);
    await store.close(id);
    await store.close('other');
    await store.append(id, 1, [say('b')]);
    expect(await all(store, id)).toHaveLength(2);
  });

  test('threads do not mix', async () => {
    const other = uuidV7(Date.now());
    await store.append(id, 0, [say('a')]);
    await store.append(other, 0, [say('b')]);
    expect((await all(store, id)).map((stored) => stored.record)).toEqual([say('a')]);
    expect((await all(store, other)).map((stored) => stored.record)).toEqual([say('b')]);
  });
});

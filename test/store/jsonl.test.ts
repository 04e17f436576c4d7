/** What is special about the file store: its format, damaged files, locks, and homes that cannot be written. */
import { appendFileSync, chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/lib/index.js';
import type { Stored, ThreadRecord, ThreadSettings } from '../../src/protocol/index.js';
import { createJsonlStore, type EventStore, findThread, listThreads, nameThread } from '../../src/store/index.js';

/** A UUIDv7 of the very moment the clock shows. */
const id = '01a22f57-5df7-7000-8000-000000000001';
const atMs = Date.UTC(2026, 11, 1, 2, 3, 4, 567);
const clock: Clock = { ...systemClock, nowMs: () => atMs };
const say = (message: string): ThreadRecord => ({ type: 'warning', message });

let home: string;
let warnings: string[];
let store: EventStore;
beforeEach(async () => {
  home = await mkdtemp(path.join(os.tmpdir(), 'tw-jsonl-'));
  warnings = [];
  store = newStore();
});
afterEach(() => rm(home, { recursive: true, force: true }));

function newStore(): EventStore {
  return createJsonlStore({ home, clock, warn: (message) => warnings.push(message) });
}
async function all(from: EventStore, thread = id): Promise<Stored[]> {
  const records: Stored[] = [];
  for await (const stored of from.load(thread)) records.push(stored);
  return records;
}
const file = () => path.join(home, `sessions/2026/12/01/rollout-2026-12-01T02-03-04-${id}.jsonl`);

test('one object a line, in the family format, only readable by its owner', async () => {
  await store.append(id, 0, [say('hello')]);
  expect(readFileSync(file(), 'utf8')).toBe(
    '{"timestamp":"2026-12-01T02:03:04.567Z","ordinal":1,"type":"warning","payload":{"message":"hello"}}\n',
  );
  expect(newStore()).toBeDefined();
});

test('nothing is created before the first append', () => {
  expect(readdirSync(home)).toEqual([]);
});

test('a torn last line is ignored on load and cut off before the next append', async () => {
  await store.append(id, 0, [say('a')]);
  await store.close(id);
  appendFileSync(file(), '{"timestamp":"2026-12-01T02:03:04.567Z","ordinal":2,"type":"warn');
  expect(await all(newStore())).toHaveLength(1);
  await newStore().append(id, 1, [say('b')]);
  expect((await all(newStore())).map((stored) => stored.record)).toEqual([say('a'), say('b')]);
});

test('a complete record without its newline was never acknowledged and goes too', async () => {
  await store.append(id, 0, [say('a')]);
  await store.close(id);
  appendFileSync(
    file(),
    '{"timestamp":"2026-12-01T02:03:04.567Z","ordinal":2,"type":"warning","payload":{"message":"x"}}',
  );
  expect(await all(newStore())).toHaveLength(1);
  await newStore().append(id, 1, [say('b')]);
  expect((await all(newStore()))[1]?.record).toEqual(say('b'));
});

test('a file with nothing but a torn line is a thread without records', async () => {
  mkdirSync(path.dirname(file()), { recursive: true });
  writeFileSync(file(), '{"timest');
  expect(await all(store)).toEqual([]);
  await store.append(id, 0, [say('a')]);
  expect(await all(newStore())).toHaveLength(1);
});

test('a foreign line is skipped with a warning when the numbering goes on', async () => {
  await store.append(id, 0, [say('a')]);
  await store.close(id);
  appendFileSync(file(), 'not json\n');
  await newStore().append(id, 1, [say('b')]);
  expect(await all(newStore())).toHaveLength(2);
  expect(warnings).toEqual([`${file()}:2: not a record; the line is skipped`]);
});

test('a damaged record in the middle is an error with its place', async () => {
  await store.append(id, 0, [say('a'), say('b'), say('c')]);
  await store.close(id);
  const lines = readFileSync(file(), 'utf8').split('\n');
  lines[1] = lines[1]!.slice(0, 20);
  writeFileSync(file(), lines.join('\n'));
  await expect(all(newStore())).rejects.toMatchObject({
    code: 'TW_THREAD_CORRUPT',
    message: expect.stringContaining(`${file()}:2: record 2 is missing (found 3)`),
  });
});

test('a record of a newer version keeps its number and becomes a note', async () => {
  await store.append(id, 0, [say('a')]);
  await store.close(id);
  appendFileSync(file(), '{"timestamp":"2026-12-01T02:03:04.567Z","ordinal":2,"type":"moon.rose","payload":{}}\n');
  const records = await all(newStore());
  expect(records[1]).toMatchObject({
    seq: 2,
    record: { type: 'warning', message: expect.stringContaining('moon.rose') },
  });
  await newStore().append(id, 2, [say('b')]);
});

test('the last record is found behind a line longer than the first look', async () => {
  await store.append(id, 0, [say('x'.repeat(300_000)), say('y'.repeat(700_000))]);
  await store.close(id);
  await newStore().append(id, 2, [say('b')]);
  expect((await all(newStore())).map((stored) => stored.seq)).toEqual([1, 2, 3]);
});

test('a second writer is told who holds the thread; after close it may write', async () => {
  await store.append(id, 0, [say('a')]);
  await expect(newStore().append(id, 1, [say('b')])).rejects.toMatchObject({
    code: 'TW_THREAD_BUSY',
    message: expect.stringContaining(`process ${process.pid}`),
  });
  await store.close(id);
  await newStore().append(id, 1, [say('b')]);
});

test.each([
  ['of a process that is gone', () => ({ pid: 2 ** 22 + 1, host: os.hostname() })],
  ['of an earlier process with the same id', () => ({ pid: process.pid, started: '1', host: os.hostname() })],
])('a lock %s is taken over', async (_name, holder) => {
  mkdirSync(path.join(home, 'locks'));
  writeFileSync(path.join(home, 'locks', `${id}.lock`), JSON.stringify(holder()));
  await store.append(id, 0, [say('a')]);
  await store.close(id);
  expect(readdirSync(path.join(home, 'locks'))).toEqual([]);
});

test('a lock of another machine is respected', async () => {
  mkdirSync(path.join(home, 'locks'));
  writeFileSync(path.join(home, 'locks', `${id}.lock`), JSON.stringify({ pid: 1, host: 'elsewhere' }));
  await expect(store.append(id, 0, [say('a')])).rejects.toThrow('process 1 on elsewhere');
});

test('a file that changed under the writer is a conflict', async () => {
  await store.append(id, 0, [say('a')]);
  appendFileSync(file(), 'x');
  await expect(store.append(id, 1, [say('b')])).rejects.toMatchObject({ code: 'TW_STORE_CONFLICT' });
});

test.each(['../../etc/passwd', 'a/b', '', '.', 'a'.repeat(200)])('%j is not a thread id', async (bad) => {
  await expect(all(store, bad)).rejects.toMatchObject({ code: 'TW_THREAD_UNKNOWN' });
  await expect(store.append(bad, 0, [say('a')])).rejects.toMatchObject({ code: 'TW_THREAD_UNKNOWN' });
});

test('a home that cannot be written is named, with what to do', async () => {
  const blocked = path.join(home, 'file');
  writeFileSync(blocked, '');
  const failing = createJsonlStore({ home: path.join(blocked, 'home'), clock });
  await expect(failing.append(id, 0, [say('a')])).rejects.toMatchObject({
    code: 'TW_HOME_WRITE',
    message: expect.stringMatching(/cannot write .*: a parent is not a folder; .*TURNWRIGHT_HOME.*--ephemeral/),
  });
});

test.skipIf(process.getuid?.() === 0)('a read-only home as well (root may write anywhere)', async () => {
  chmodSync(home, 0o500);
  await expect(store.append(id, 0, [say('a')])).rejects.toThrow('permission denied');
  chmodSync(home, 0o700);
});

test('a full disk: nothing is kept, the message says so, and a later append can work', async () => {
  mkdirSync(path.dirname(file()), { recursive: true });
  symlinkSync('/dev/full', file());
  await expect(store.append(id, 0, [say('a')])).rejects.toMatchObject({
    code: 'TW_HOME_WRITE',
    message: expect.stringContaining('the disk is full; free some space'),
  });
});

// ---------------------------------------------------------------- finding threads
function settings(threadId: string, cwd: string): ThreadSettings {
  const sandbox = {
    mode: 'read-only',
    writableRoots: [],
    excludeSlashTmp: false,
    excludeTmpdirEnvVar: false,
    readOnly: [],
    denyRead: [],
    git: 'read-only',
    network: { kind: 'off' },
    unixSockets: 'deny',
    landlockFallback: false,
  } as const;
  const turn = {
    model: 'm',
    provider: 'p',
    cwd,
    approvalPolicy: 'never',
    sandbox,
    steerDelivery: 'now',
    budget: {},
    policyFingerprint: '',
  } as const;
  return { threadId, version: '0', source: 'exec', turn };
}

async function startThread(threadId: string, cwd: string, text: string): Promise<void> {
  const writer = newStore();
  await writer.append(threadId, 0, [
    { type: 'thread.started', settings: settings(threadId, cwd) },
    {
      type: 'input.accepted',
      turnId: 't',
      via: 'start',
      item: { type: 'userMessage', id: 'm', content: [{ type: 'text', text }] },
    },
  ]);
  await writer.close(threadId);
}

test('lists threads newest first, by folder, with a preview', async () => {
  const ids = ['1', '2', '3'].map((n) => id.slice(0, -1) + n);
  await startThread(ids[0]!, '/a', 'first\n  thing');
  await startThread(ids[1]!, '/b', 'second');
  await startThread(ids[2]!, '/a', 'third');
  const { utimesSync } = await import('node:fs');
  ids.forEach((thread, i) => {
    utimesSync(file().replace(id, thread), i, [30, 10, 20][i]!);
  });
  const listed = await listThreads({ home, limit: 10 });
  expect(listed.map((thread) => thread.preview)).toEqual(['first thing', 'third', 'second']);
  expect((await listThreads({ home, limit: 1, cwd: '/b' })).map((thread) => thread.threadId)).toEqual([ids[1]]);
  expect(await listThreads({ home, limit: 2 })).toHaveLength(2);
});

test('finds a thread by id, unique beginning, or name', async () => {
  const other = '019fffff-b400-7000-8000-000000000002';
  await startThread(id, '/a', 'one');
  await startThread(other, '/a', 'two');
  await nameThread(home, other, 'old name', atMs);
  await nameThread(home, other, 'the parser', atMs);
  expect(await findThread(home, id)).toBe(id);
  expect(await findThread(home, '019ff')).toBe(other);
  expect(await findThread(home, 'the parser')).toBe(other);
  await expect(findThread(home, '01')).rejects.toThrow('fits 2 threads');
  await expect(findThread(home, 'old name')).rejects.toMatchObject({ code: 'TW_THREAD_UNKNOWN' });
  await expect(findThread(home, '')).rejects.toMatchObject({ code: 'TW_THREAD_UNKNOWN' });
});

test('an empty home lists nothing', async () => {
  expect(await listThreads({ home: path.join(home, 'none'), limit: 5 })).toEqual([]);
});

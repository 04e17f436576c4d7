import { expect, test } from 'vitest';
import { MAX_SESSIONS, ProcessTable, type TableEntry } from './table.js';

interface FakeEntry extends TableEntry {
  hasExited: boolean;
  ended: boolean;
}

function entry(hasExited = false): FakeEntry {
  const self: FakeEntry = {
    hasExited,
    ended: false,
    async terminate() {
      self.ended = true;
    },
  };
  return self;
}

function fullTable(exitedAt: readonly number[] = []): { table: ProcessTable; entries: FakeEntry[]; ids: number[] } {
  const table = new ProcessTable();
  const entries = Array.from({ length: MAX_SESSIONS }, (_, n) => entry(exitedAt.includes(n)));
  return { table, entries, ids: entries.map((one) => table.add(one)) };
}

const endedOf = (entries: readonly FakeEntry[]) => entries.flatMap((one, n) => (one.ended ? [n] : []));

test('session ids are random numbers of four or five digits, unlike each other', () => {
  const { ids } = fullTable();
  expect(new Set(ids).size).toBe(MAX_SESSIONS);
  for (const id of ids) expect(id).toSatisfy((n: number) => n >= 1000 && n <= 99_999);
});

test('a full table ends the least recently used session', () => {
  const { table, entries, ids } = fullTable();
  table.get(ids[0]!);
  table.add(entry());
  expect(endedOf(entries)).toEqual([1]);
  expect(table.get(ids[1]!)).toBeUndefined();
  expect(table.size).toBe(MAX_SESSIONS);
});

test('an exited session goes first', () => {
  const { table, entries } = fullTable([20]);
  table.add(entry());
  expect(endedOf(entries)).toEqual([20]);
});

test('the eight most recently used are never chosen', () => {
  const { table, entries } = fullTable([MAX_SESSIONS - 8]);
  table.add(entry());
  expect(endedOf(entries)).toEqual([0]);
});

test('dispose ends all, and what is added later', async () => {
  const { table, entries } = fullTable();
  await table[Symbol.asyncDispose]();
  expect(endedOf(entries)).toHaveLength(MAX_SESSIONS);
  const late = entry();
  table.add(late);
  expect(late.ended).toBe(true);
});

test('marks of one table begin alike and are no prefix of each other', () => {
  const table = new ProcessTable();
  const marks = Array.from({ length: 12 }, () => table.nextMark());
  for (const mark of marks) for (const other of marks) expect(other.startsWith(mark)).toBe(other === mark);
});

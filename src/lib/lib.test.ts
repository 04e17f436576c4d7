import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AppendList } from './append-list.js';
import { AsyncQueue } from './async-queue.js';
import { systemClock } from './clock.js';
import { GroupLock } from './group-lock.js';
import { uuidV7 } from './ids.js';

describe('AppendList', () => {
  test('every version stays what it was', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(20), fc.array(fc.integer(), { maxLength: 3 })), { maxLength: 20 }),
        (operations) => {
          const versions = [{ list: AppendList.of<number>(), plain: [] as number[] }];
          for (const [pick, items] of operations) {
            const from = versions[pick % versions.length]!;
            versions.push({ list: from.list.append(...items), plain: [...from.plain, ...items] });
          }
          for (const { list, plain } of versions) {
            expect(list.toArray()).toEqual(plain);
            expect([...list]).toEqual(plain);
            expect(list.at(-1)).toBe(plain.at(-1));
          }
        },
      ),
    );
  });
});

describe('AsyncQueue', () => {
  test('reads what was queued before the end, then stops', async () => {
    const queue = new AsyncQueue<number>();
    queue.push(1);
    queue.push(2);
    queue.end();
    queue.push(3);
    const read: number[] = [];
    for await (const n of queue) read.push(n);
    expect(read).toEqual([1, 2]);
  });

  test('wakes a waiting reader and throws a failure after the queued items', async () => {
    const queue = new AsyncQueue<number>();
    const read: number[] = [];
    const reading = (async () => {
      for await (const n of queue) read.push(n);
    })();
    queue.push(1);
    queue.fail(new Error('broken'));
    await expect(reading).rejects.toThrow('broken');
    expect(read).toEqual([1]);
  });

  test('tells when the reader leaves early', async () => {
    let left = 0;
    const queue = new AsyncQueue<number>(() => left++);
    queue.push(1);
    for await (const _ of queue) break;
    expect(left).toBe(1);
  });
});

describe('GroupLock', () => {
  const never = new AbortController().signal;

  test('one group shares, others wait in order, and nobody overtakes', async () => {
    const lock = new GroupLock();
    const order: string[] = [];
    const take = async (name: string, group: string | null) => {
      const release = await lock.acquire(group, never);
      order.push(name);
      return release;
    };
    const a = await take('a', 'shared');
    const b = await take('b', 'shared');
    const waiting = [take('patch', 'patch'), take('c', 'shared'), take('alone', null)];
    expect(order).toEqual(['a', 'b']);
    a();
    a();
    expect(order).toEqual(['a', 'b']);
    b();
    (await waiting[0]!)();
    (await waiting[1]!)();
    (await waiting[2]!)();
    expect(order).toEqual(['a', 'b', 'patch', 'c', 'alone']);
  });

  test('an aborted waiter leaves the line', async () => {
    const lock = new GroupLock();
    const release = await lock.acquire(null, never);
    const controller = new AbortController();
    const gone = lock.acquire('x', controller.signal);
    const next = lock.acquire('y', never);
    controller.abort(new Error('stop'));
    await expect(gone).rejects.toThrow('stop');
    release();
    (await next)();
  });
});

test('a sleep ends at once when aborted', async () => {
  const controller = new AbortController();
  const sleeping = systemClock.sleep(60_000, controller.signal);
  controller.abort(new Error('enough'));
  await expect(sleeping).rejects.toThrow('enough');
});

test('uuidV7 has its version, and sorts by time', () => {
  const ids = [1, 2, 3].map((n) => uuidV7(1_700_000_000_000 + n));
  expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect([...ids].sort()).toEqual(ids);
});

import { expect, test } from 'vitest';
import { type ConfigLayer, mergeLayers, originOf } from './layers.js';

const layer = (name: ConfigLayer['name'], table: Record<string, unknown>): ConfigLayer => ({ name, table });

test('tables merge key by key, everything else replaces, and each value knows its layer', () => {
  const merged = mergeLayers([
    layer('flags', { a: { x: 1 }, list: ['f'] }),
    layer('user', { a: { x: 2, y: 3 }, list: ['u', 'v'], only: true }),
  ]);
  expect(merged.table).toEqual({ a: { x: 1, y: 3 }, list: ['f'], only: true });
  const names = Object.fromEntries([...merged.origins].map(([key, origin]) => [key, origin.name]));
  expect(names).toMatchObject({ 'a.x': 'flags', 'a.y': 'user', list: 'flags', only: 'user' });
  expect(originOf(merged, ['a', 'x'])?.name).toBe('flags');
});

test('a plain value over a table leaves no origins of the table behind', () => {
  const merged = mergeLayers([layer('flags', { a: 'x' }), layer('user', { a: { b: 1 } })]);
  expect(merged.table).toEqual({ a: 'x' });
  expect([...merged.origins.keys()]).toEqual(['a']);
});

test('a disabled layer takes no part', () => {
  const merged = mergeLayers([
    { ...layer('project', { a: 1 }), disabledReason: 'not trusted' },
    layer('user', { a: 2 }),
  ]);
  expect(merged.table).toEqual({ a: 2 });
});

test('merging does not change the layers', () => {
  const low = { a: { x: 1 } };
  mergeLayers([layer('flags', { a: { x: 2 } }), layer('user', low)]);
  expect(low).toEqual({ a: { x: 1 } });
});

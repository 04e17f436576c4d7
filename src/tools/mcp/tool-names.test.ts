import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inNamingOrder, ToolNames } from './tool-names.js';

test('usable names stay as they are', () => {
  expect(new ToolNames().nameOf('my-server', 'read_file2')).toBe('mcp__my-server__read_file2');
});

test('a name once given is kept, whoever comes later', () => {
  const names = new ToolNames();
  const first = names.nameOf('a__b', 'c');
  const second = names.nameOf('a', 'b__c');
  expect(first).toBe('mcp__a__b__c');
  expect(second).toMatch(/^mcp__a__b__c_[0-9a-f]{8}$/);
  expect([names.nameOf('a__b', 'c'), names.nameOf('a', 'b__c')]).toEqual([first, second]);
});

test('names that need no change come first', () => {
  expect(inNamingOrder(['a.b', 'z', 'a_b', 'a b'])).toEqual(['a_b', 'z', 'a b', 'a.b']);
});

test('whatever servers call their tools: each has its own name that every provider takes', () => {
  const pair = fc.tuple(fc.string({ unit: 'binary', maxLength: 90 }), fc.string({ unit: 'binary', maxLength: 90 }));
  const alike = fc.tuple(fc.constantFrom('s', 's.', 's_'), fc.constantFrom('t', 't.', 't_', '.t', '_t'));
  const tools = fc.uniqueArray(fc.oneof(pair, alike), { selector: (one) => JSON.stringify(one), maxLength: 30 });
  fc.assert(
    fc.property(tools, (list) => {
      const names = new ToolNames();
      const given = list.map(([server, tool]) => names.nameOf(server, tool));
      expect(new Set(given).size).toBe(list.length);
      for (const name of given) expect(name).toMatch(/^mcp__[A-Za-z0-9_-]{1,59}$/);
    }),
  );
});

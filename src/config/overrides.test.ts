import { expect, test } from 'vitest';
import { parseOverrides } from './overrides.js';

const cases: [string, string[], unknown][] = [
  ['a TOML string', ['model="gpt-5.5"'], { model: 'gpt-5.5' }],
  ['what is not TOML is text', ['model=gpt-5.5'], { model: 'gpt-5.5' }],
  ['text keeps its inner equals signs', ['a.url=http://x/?q=1'], { a: { url: 'http://x/?q=1' } }],
  ['numbers, booleans and lists', ['a=1', 'b=true', 'c=["x"]'], { a: 1, b: true, c: ['x'] }],
  [
    'an inline table, then one of its keys',
    ['p.mock={name="m",n=0}', 'p.mock.n=2'],
    { p: { mock: { name: 'm', n: 2 } } },
  ],
  ['a later one wins', ['a=1', 'a=2'], { a: 2 }],
  ['a table is replaced by a later table', ['a={x=1}', 'a={y=2}'], { a: { y: 2 } }],
  [
    'quoted key parts may hold dots',
    ['projects."/a.b".trust_level=trusted'],
    { projects: { '/a.b': { trust_level: 'trusted' } } },
  ],
  ['single quotes as well', ["projects.'/a=b'.t=1"], { projects: { '/a=b': { t: 1 } } }],
  ['an empty value is an empty text', ['a='], { a: '' }],
];

test.each(cases)('%s', (_name, overrides, expected) => {
  expect(parseOverrides(overrides)).toEqual(expected);
});

test.each(['novalue', '=x', 'a..b=1', '.a=1', ''])('refuses %j', (override) => {
  expect(() => parseOverrides([override])).toThrow(expect.objectContaining({ code: 'TW_CONFIG_PARSE' }));
});

test('a key named __proto__ touches nothing', () => {
  const table = parseOverrides(['__proto__.polluted=true']);
  expect(Object.keys(table)).toEqual(['__proto__']);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

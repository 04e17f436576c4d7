/** The sample project of `turnwright demo`: a shopping cart with a failing test. */
export const DEMO_FILES: Readonly<Record<string, string>> = {
  'package.json': `{
  "name": "cart",
  "type": "module",
  "scripts": { "test": "node --test" }
}
`,
  'src/cart.js': `// Prices are in cents.
export function total(items) {
  let sum = 0;
  for (const item of items) sum += item.price;
  return sum;
}

export function discounted(items, percent) {
  return total(items) * (1 - percent);
}
`,
  'test/cart.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { discounted, total } from '../src/cart.js';

const items = [
  { name: 'pen', price: 150, quantity: 2 },
  { name: 'book', price: 1200, quantity: 1 },
];

test('total counts every piece', () => assert.equal(total(items), 1500));
test('discounted takes percent off', () => assert.equal(discounted(items, 10), 1350));
`,
  'AGENTS.md': `Keep prices in cents. Run the tests with \`node --test\`.
`,
};

// A tool of your own beside the built-in ones. The model is a provider made from a script in this file.
import assert from 'node:assert/strict';
import { createScriptedProvider, createSession, defineTool, parseScript, runTurn } from 'turnwright';

const stock = new Map([['pen', 3]]);
const lookUp = defineTool({
  name: 'look_up_stock',
  description: 'How many pieces of a product are in stock.',
  parameters: { type: 'object', properties: { product: { type: 'string' } }, required: ['product'] },
  parallel: true, // it changes nothing, so it may run beside others
  run({ product }) {
    const count = stock.get(String(product));
    if (count === undefined) throw new Error(`there is no product ${product}`); // the model reads this
    return `${count} pieces`;
  },
});

const provider = createScriptedProvider(
  parseScript([
    {
      events: [
        { call: 'look_up_stock', args: { product: 'pen' }, id: 'first' },
        { call: 'look_up_stock', args: { product: 'unicorn' }, id: 'second' },
        { done: true },
      ],
    },
    { events: [{ text: 'Three pens, no unicorns.' }, { done: true }] },
  ]),
);

const session = await createSession({ provider, extraTools: [lookUp], ephemeral: true });
try {
  const turn = await runTurn(await session.start(), 'what is in stock?');
  assert.equal(turn.message, 'Three pens, no unicorns.');
} finally {
  await session.close();
}

const outputs = provider.requests[1].input.filter((item) => item.type === 'toolOutput');
assert.deepEqual(
  outputs.map(({ callId, outcome }) => [callId, outcome.kind, outcome.text]),
  [
    ['first', 'ok', '3 pieces'],
    ['second', 'failed', 'look_up_stock failed: there is no product unicorn'],
  ],
);
console.log('custom-tool: the model read', JSON.stringify(outputs[0].outcome.text));

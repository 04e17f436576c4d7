// Say something while the model works, then stop it in the middle of a sentence.
import assert from 'node:assert/strict';
import { createScriptedProvider, createSession, parseScript } from 'turnwright';

// `gate` holds the answer until this program opens it; `hold` never goes on, like a model that thinks for ever.
const provider = createScriptedProvider(
  parseScript([
    { events: [{ text: 'I will use spaces.' }, { gate: 'said' }, { done: true }] },
    { expect: 'use tabs', events: [{ text: 'Tabs it is.' }, { done: true }] },
    { events: [{ text: 'Let me think' }, { hold: true }] },
  ]),
);
const say = (text) => [{ type: 'text', text }];
const session = await createSession({ provider, ephemeral: true });
const thread = await session.start();
const events = thread.events()[Symbol.asyncIterator]();

/** The next event of this kind, with its facts. */
async function next(type) {
  for (;;) {
    const { value: event, done } = await events.next();
    if (done) throw new Error(`the thread ended before ${type}`);
    const facts = event.kind === 'record' ? event.stored.record : event.delta;
    if (facts.type === type) return facts;
  }
}

try {
  const first = await thread.submit(say('format the file'));
  await next('text'); // the model is speaking
  const steer = await thread.submit(say('use tabs'), { expectedTurnId: first.turnId });
  assert.deepEqual(steer, { kind: 'steered', turnId: first.turnId }); // the same turn
  provider.gate('said').open();
  assert.equal((await next('turn.ended')).status, 'completed');
  assert.equal(provider.requests.length, 2); // nothing was cut: the steer joined the next request

  const late = await thread.submit(say('too late'), { expectedTurnId: first.turnId });
  assert.deepEqual(late, { kind: 'refused', refusal: { reason: 'noActiveTurn' } });

  const second = await thread.submit(say('think about it'));
  await next('text');
  await thread.interrupt(second.turnId);
  const end = await next('turn.ended');
  assert.deepEqual([end.status, end.reason], ['interrupted', 'user']);
} finally {
  await session.close();
}
console.log('steer-and-interrupt: steered within one turn, interrupted the next');

/** What must hold for any conversation: calls and outputs pair, and each request extends the one before it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Item } from '../../src/protocol/index.js';
import {
  call,
  custom,
  done,
  type Part,
  response,
  say,
  scriptedModel,
  startTestThread,
  testTool,
  text,
} from '../../src/testing/index.js';

type Move = 'say' | 'echo' | 'unknown' | 'badKind' | 'slow' | 'refused' | 'throwsArgs';
type End = 'done' | 'again' | 'cut' | 'failed' | 'limit';

const round = fc.record({
  moves: fc.array(fc.constantFrom<Move>('say', 'echo', 'unknown', 'badKind', 'slow', 'refused', 'throwsArgs'), {
    maxLength: 4,
  }),
  end: fc.constantFrom<End>('done', 'again', 'cut', 'failed', 'limit'),
});
/** What the person does right after a request went out. */
const action = fc.constantFrom('nothing', 'nothing', 'steer', 'steerNow', 'interrupt');

const tools = [
  testTool({ name: 'echo', run: () => ({ kind: 'ok', text: 'echo' }) }),
  testTool({
    name: 'refused',
    requirement: () => ({ kind: 'forbidden', reason: 'no' }),
    run: () => ({ kind: 'ok', text: 'ran' }),
  }),
  testTool({
    name: 'slow',
    run: async (_args, _context, signal) => {
      for (let tick = 0; tick < 8 && !signal.aborted; tick++) await new Promise(setImmediate);
      return signal.aborted ? { kind: 'aborted', text: 'aborted by user' } : { kind: 'ok', text: 'slow' };
    },
  }),
];

function part(move: Move, id: string): Part[] {
  switch (move) {
    case 'say':
      return say(`text ${id}`);
    case 'badKind':
      return custom('echo', 'x', id);
    case 'throwsArgs':
      return call('echo', '{ not json', id);
    case 'unknown':
      return call('nope', {}, id);
    default:
      return call(move, {}, id);
  }
}

function ending(end: End): readonly Part[] {
  switch (end) {
    case 'done':
      return done();
    case 'again':
      return done(false);
    case 'cut':
      return [];
    case 'failed':
      return [{ type: 'failed', error: { kind: 'badRequest', message: 'no' } }];
    case 'limit':
      return [{ type: 'incomplete', reason: 'max_output_tokens' }];
  }
}

function expectPaired(items: readonly Item[]): void {
  const open: string[] = [];
  for (const item of items) {
    if (item.type === 'toolCall') open.push(item.callId);
    if (item.type !== 'toolOutput') continue;
    expect(open).toContain(item.callId);
    open.splice(open.indexOf(item.callId), 1);
  }
  expect(open).toEqual([]);
}

test('pairing and prefix stability', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(round, { minLength: 1, maxLength: 6 }),
      fc.array(action, { minLength: 8, maxLength: 8 }),
      async (rounds, actions) => {
        const script = rounds.map(({ moves, end }, n) =>
          response(...moves.map((move, i) => part(move, `c${n}_${i}`)), ending(end)),
        );
        const filler = Array.from({ length: 60 }, () => response(say('filler'), done()));
        const model = scriptedModel([...script, ...filler], { streamMaxRetries: 8 });
        const { thread, log, clock } = await startTestThread({ model, tools });
        let acted = 0;
        const person = (async () => {
          for await (const event of thread.events()) {
            if (event.kind !== 'record') continue;
            if (event.stored.record.type === 'sampling.ended' && event.stored.record.result.ok === false) {
              await new Promise(setImmediate);
              clock.advance(120_000);
            }
            if (event.stored.record.type !== 'sampling.started') continue;
            const next = actions[acted++];
            if (next === 'steer') await thread.submit(text(`steer ${acted}`)).catch(() => {}); // closed meanwhile
            if (next === 'steerNow') await thread.submit(text(`now ${acted}`), { delivery: 'now' }).catch(() => {});
            if (next === 'interrupt' && thread.activeTurnId)
              await thread.interrupt(thread.activeTurnId).catch(() => {});
          }
        })();
        await thread.submit(text('go'));
        while (thread.activeTurnId) {
          clock.advance(120_000);
          await new Promise(setImmediate);
        }
        await thread.submit(text('and then?'));
        while (thread.activeTurnId) {
          clock.advance(120_000);
          await new Promise(setImmediate);
        }
        await thread[Symbol.asyncDispose]();
        await person;
        for (const { input } of model.requests) expectPaired(input);
        for (let i = 1; i < model.requests.length; i++) {
          const before = model.requests[i - 1]!.input;
          expect(model.requests[i]!.input.slice(0, before.length)).toEqual(before);
        }
        expectPaired(log.state.history.toArray());
      },
    ),
    { numRuns: 300 },
  );
});

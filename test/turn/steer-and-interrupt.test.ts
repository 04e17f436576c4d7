/** Input while a turn runs, and its end by interrupt. */
import { describe, expect, test } from 'vitest';
import { type Deferred, deferred } from '../../src/lib/index.js';
import type { Item, ThreadEvent, ThreadRecord } from '../../src/protocol/index.js';
import { call, done, response, say, scriptedModel, startTestThread, testTool, text } from '../../src/testing/index.js';

const ended = (records: readonly ThreadRecord[]) => records.filter((record) => record.type === 'turn.ended');
const words = (input: readonly Item[]) =>
  input.map((item) => {
    if (item.type === 'userMessage')
      return `user ${item.content.map((part) => (part.type === 'text' ? part.text : '')).join('')}`;
    if (item.type === 'agentMessage') return `said ${item.text}${item.incomplete ? ' (cut)' : ''}`;
    if (item.type === 'toolOutput') return `output ${item.outcome.kind}`;
    return item.type === 'context' ? item.kind : item.type;
  });

/** Resolves once the thread shows a text delta that contains `part`. Subscribes at the call. */
function shows(thread: { events(): AsyncIterable<ThreadEvent> }, part: string): Promise<void> {
  const events = thread.events();
  return (async () => {
    for await (const event of events)
      if (event.kind === 'delta' && event.delta.type === 'text' && event.delta.text.includes(part)) return;
  })();
}

/** A tool that says when it runs and ends when told, or when aborted. */
function heldTool(): { tool: ReturnType<typeof testTool>; started: Deferred<void>; release: Deferred<void> } {
  const started = deferred<void>();
  const release = deferred<void>();
  const tool = testTool({
    name: 'hold',
    run: async (_args, _context, signal) => {
      started.resolve();
      await Promise.race([
        release.promise,
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      ]);
      return { kind: 'ok', text: 'held' };
    },
  });
  return { tool, started, release };
}

describe('steer', () => {
  test('joins the next request of the same turn; the running response is read to its end', async () => {
    const first = deferred<void>();
    const steered = deferred<void>();
    const model = scriptedModel([
      response(
        say('one'),
        async () => first.resolve(),
        () => steered.promise,
        say('two'),
        done(),
      ),
      response(say('three'), done()),
    ]);
    const { thread, records } = await startTestThread({ model });
    const started = await thread.submit(text('go'));
    await first.promise;
    const turnId = started.kind === 'started' ? started.turnId : '';
    expect(await thread.submit(text('also this'), { expectedTurnId: turnId })).toEqual({ kind: 'steered', turnId });
    steered.resolve();
    await thread.idle();
    expect(words(model.requests[1]!.input)).toEqual(['user go', 'said one', 'said two', 'user also this']);
    expect(ended(await records())).toHaveLength(1);
  });

  test('with delivery "now" cuts the response and keeps what the user has read, marked', async () => {
    const model = scriptedModel([
      response(
        { type: 'itemStarted', itemId: 'm', itemType: 'agentMessage' },
        { type: 'text', itemId: 'm', text: 'the first half of a long answer' },
        () => new Promise<void>(() => {}),
      ),
      response(say('new answer'), done()),
    ]);
    const { thread } = await startTestThread({ model });
    const shown = shows(thread, 'half of a');
    await thread.submit(text('go'));
    await shown;
    await thread.submit(text('stop that'), { delivery: 'now' });
    await thread.idle();
    expect(words(model.requests[1]!.input)).toEqual([
      'user go',
      'said the first half of a long answer (cut)',
      'user stop that',
    ]);
  });

  test('with delivery "now" waits for a running tool of the cut response', async () => {
    const { tool, started, release } = heldTool();
    const model = scriptedModel([
      response(call('hold', {}, 'c1'), () => new Promise<void>(() => {})),
      response(say('ok'), done()),
    ]);
    const { thread } = await startTestThread({ model, tools: [tool] });
    await thread.submit(text('go'));
    await started.promise;
    await thread.submit(text('hurry'), { delivery: 'now' });
    release.resolve();
    await thread.idle();
    expect(words(model.requests[1]!.input)).toEqual(['user go', 'toolCall', 'output ok', 'user hurry']);
  });

  test('that arrives while stop hooks run is served in the same turn, and the hooks run again', async () => {
    const inHook = deferred<void>();
    const leave = deferred<void>();
    let runs = 0;
    const stopHooks = {
      run: async () => {
        runs++;
        inHook.resolve();
        await leave.promise;
        return {};
      },
    };
    const model = scriptedModel([response(say('done'), done()), response(say('answer'), done())]);
    const { thread, records } = await startTestThread({ model, stopHooks });
    const admission = await thread.submit(text('go'));
    await inHook.promise;
    expect(await thread.submit(text('late'))).toMatchObject({
      kind: 'steered',
      turnId: (admission as { turnId: string }).turnId,
    });
    leave.resolve();
    await thread.idle();
    expect(words(model.requests[1]!.input)).toEqual(['user go', 'said done', 'user late']);
    expect(runs).toBe(2);
    expect(ended(await records())).toHaveLength(1);
  });

  test('during a retry wait with delivery "now" joins at once and starts the count again', async () => {
    const model = scriptedModel([response(), response(say('ok'), done())]);
    const { thread, clock, log } = await startTestThread({ model });
    await thread.submit(text('go'));
    await clock.someoneSleeps();
    await thread.submit(text('and this'), { delivery: 'now' });
    await thread.idle();
    expect(words(model.requests[1]!.input)).toEqual(['user go', 'user and this']);
    expect(log.state.turn).toBeUndefined();
  });

  test('input sent the moment the turn ends is never lost: it steers or starts the next turn', async () => {
    for (let round = 0; round < 20; round++) {
      const model = scriptedModel([response(say('a'), done()), response(say('b'), done())]);
      const { thread, log } = await startTestThread({ model });
      await thread.submit(text('go'));
      for (let tick = 0; tick < round; tick++) await Promise.resolve();
      await thread.submit(text('next'));
      await thread.idle();
      expect(words(log.state.history.toArray())).toEqual(['user go', 'said a', 'user next', 'said b']);
    }
  });
});

describe('interrupt', () => {
  test('stops a running tool, gives every call an output, marks it, and the thread goes on', async () => {
    const { tool, started } = heldTool();
    const model = scriptedModel([response(call('hold', {}, 'c1'), done()), response(say('ok'), done())]);
    const { thread, records } = await startTestThread({ model, tools: [tool] });
    await thread.submit(text('go'));
    await started.promise;
    await thread.interrupt(thread.activeTurnId!);
    expect(ended(await records())).toMatchObject([{ status: 'interrupted', reason: 'user' }]);
    await thread.submit(text('what happened'));
    await thread.idle();
    expect(words(model.requests[1]!.input)).toEqual([
      'user go',
      'toolCall',
      'output aborted',
      'turnAborted',
      'user what happened',
    ]);
  });

  test('in mid-stream keeps finished items and drops the half message', async () => {
    const model = scriptedModel([
      response(
        say('finished'),
        { type: 'itemStarted', itemId: 'm', itemType: 'agentMessage' },
        { type: 'text', itemId: 'm', text: 'half of a long message' },
        () => new Promise<void>(() => {}),
      ),
    ]);
    const { thread, log } = await startTestThread({ model });
    const shown = shows(thread, 'half of a');
    await thread.submit(text('go'));
    await shown;
    await thread.interrupt(thread.activeTurnId!);
    expect(words(log.state.history.toArray())).toEqual(['user go', 'said finished', 'turnAborted']);
  });

  test('gives steers that were not read yet back to the client', async () => {
    const { tool, started } = heldTool();
    const model = scriptedModel([response(call('hold', {}, 'c1'), done())]);
    const { thread, records } = await startTestThread({ model, tools: [tool] });
    await thread.submit(text('go'));
    await started.promise;
    await thread.submit(text('one more thing'));
    await thread.interrupt(thread.activeTurnId!);
    expect(ended(await records())).toMatchObject([{ pendingInput: [[{ type: 'text', text: 'one more thing' }]] }]);
  });

  test('of another turn, or of none, is refused and says which turn is active', async () => {
    const { thread } = await startTestThread({ model: scriptedModel([]) });
    await expect(thread.interrupt('t9')).rejects.toMatchObject({
      code: 'TW_USAGE',
      message: 'cannot interrupt turn t9: no turn is active',
    });
  });

  test('settles an open approval as an abort, never as a refusal', async () => {
    const guarded = testTool({
      name: 'guarded',
      requirement: () => ({ kind: 'needsApproval' }),
      run: () => ({ kind: 'ok', text: 'ran' }),
    });
    const model = scriptedModel([response(call('guarded', {}, 'c1'), done())]);
    const { thread, records } = await startTestThread({ model, tools: [guarded] });
    await thread.submit(text('go'));
    for await (const event of thread.events(1))
      if (event.kind === 'record' && event.stored.record.type === 'approval.asked') break;
    expect(thread.status).toEqual({ kind: 'active', waitingOn: ['approval'] });
    await thread.interrupt(thread.activeTurnId!);
    const outputs = (await records()).flatMap((record) =>
      record.type === 'item.completed' && record.item.type === 'toolOutput' ? [record.item.outcome.kind] : [],
    );
    expect(outputs).toEqual(['aborted']);
  });

  test('a replacing submit ends the turn without a marker and starts the next', async () => {
    const { tool, started } = heldTool();
    const model = scriptedModel([response(call('hold', {}, 'c1'), done()), response(say('ok'), done())]);
    const { thread, records } = await startTestThread({ model, tools: [tool] });
    await thread.submit(text('go'));
    await started.promise;
    await thread.submit(text('instead'), { ifActive: 'replace' });
    await thread.idle();
    expect(ended(await records())).toMatchObject([
      { status: 'interrupted', reason: 'replaced' },
      { status: 'completed' },
    ]);
    expect(words(model.requests[1]!.input)).toEqual(['user go', 'toolCall', 'output aborted', 'user instead']);
  });
});

describe('approvals', () => {
  const guarded = testTool({
    name: 'guarded',
    requirement: () => ({ kind: 'needsApproval', reason: 'why not' }),
    run: () => ({ kind: 'ok', text: 'ran' }),
  });
  const twice = () =>
    scriptedModel([
      response(call('guarded', { n: 1 }, 'a'), done()),
      response(call('guarded', { n: 1 }, 'b'), done()),
      response(say('ok'), done()),
    ]);
  const outcomes = (records: readonly ThreadRecord[]) =>
    records.flatMap((record) =>
      record.type === 'item.completed' && record.item.type === 'toolOutput' ? [record.item.outcome.text] : [],
    );

  test.each([
    ['accept asks again next time', [{ type: 'accept' }, { type: 'accept' }], ['ran', 'ran'], 2, 'completed'],
    ['acceptForSession is remembered', [{ type: 'acceptForSession' }], ['ran', 'ran'], 1, 'completed'],
    [
      'decline refuses and the turn goes on',
      [{ type: 'decline' }, { type: 'decline' }],
      ['guarded rejected: rejected by user', 'guarded rejected: rejected by user'],
      2,
      'completed',
    ],
    [
      'cancel refuses and ends the turn',
      [{ type: 'cancel' }],
      ['guarded rejected: rejected by user; the turn was ended'],
      1,
      'interrupted',
    ],
  ] as const)('%s', async (_name, answers, expected, questions, status) => {
    const { thread, records } = await startTestThread({ model: twice(), tools: [guarded], answers });
    await thread.submit(text('go'));
    await thread.idle();
    const all = await records();
    expect(outcomes(all)).toEqual(expected);
    expect(all.filter((record) => record.type === 'approval.asked')).toHaveLength(questions);
    expect(ended(all)).toMatchObject([{ status }]);
  });

  test('a second answer, or an unknown one, is told that nobody waits', async () => {
    const model = scriptedModel([response(call('guarded', {}, 'c1'), done()), response(say('ok'), done())]);
    const { thread } = await startTestThread({ model, tools: [guarded] });
    await thread.submit(text('go'));
    for await (const event of thread.events(1))
      if (event.kind === 'record' && event.stored.record.type === 'approval.asked') {
        const { approvalId } = event.stored.record.request;
        expect([
          thread.answer('other', { type: 'accept' }),
          thread.answer(approvalId, { type: 'accept' }),
          thread.answer(approvalId, { type: 'cancel' }),
        ]).toEqual([false, true, false]);
        break;
      }
    await thread.idle();
  });
});

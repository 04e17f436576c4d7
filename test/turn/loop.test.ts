/** The model/tool loop: sample, run, collect, go round until the model is done. */
import { describe, expect, test } from 'vitest';
import { deferred } from '../../src/lib/index.js';
import type { Item, ThreadRecord } from '../../src/protocol/index.js';
import {
  call,
  custom,
  done,
  response,
  say,
  scriptedModel,
  startTestThread,
  testTool,
  text,
} from '../../src/testing/index.js';

const echo = testTool({ name: 'echo', run: (args) => ({ kind: 'ok', text: `echo ${args['x']}` }) });
const ended = (records: readonly ThreadRecord[]) => records.filter((record) => record.type === 'turn.ended');
const shape = (input: readonly Item[]) =>
  input.map((item) => {
    if (item.type === 'toolCall') return `call ${item.callId}`;
    if (item.type === 'toolOutput') return `output ${item.callId}: ${item.outcome.text}`;
    if (item.type === 'agentMessage') return `said ${item.text}`;
    if (item.type === 'userMessage')
      return `user ${item.content.map((part) => (part.type === 'text' ? part.text : '')).join('')}`;
    return item.type;
  });

describe('one turn', () => {
  test('a plain answer', async () => {
    const model = scriptedModel([response(say('hello'), done())]);
    const { thread, records } = await startTestThread({ model });
    expect(await thread.submit(text('hi'))).toMatchObject({ kind: 'started' });
    await thread.idle();
    expect((await records()).map((record) => record.type)).toEqual([
      'thread.started',
      'turn.started',
      'input.accepted',
      'sampling.started',
      'item.completed',
      'sampling.ended',
      'hooks.ran',
      'turn.ended',
    ]);
  });

  test('a call starts while the response still streams, and the next request holds call and output', async () => {
    const ran = deferred<void>();
    const tool = testTool({
      name: 'echo',
      run: () => {
        ran.resolve();
        return { kind: 'ok', text: 'early' };
      },
    });
    const model = scriptedModel([
      response(call('echo', {}, 'c1'), () => ran.promise, say('after'), done()),
      response(say('ok'), done()),
    ]);
    const { thread } = await startTestThread({ model, tools: [tool] });
    await thread.submit(text('go'));
    await thread.idle();
    expect(shape(model.requests[1]!.input)).toEqual(['user go', 'call c1', 'said after', 'output c1: early']);
  });

  test('outputs follow in call order, whatever ends first', async () => {
    const second = deferred<void>();
    const tool = testTool({
      name: 'echo',
      run: async (args) => {
        if (args['x'] === 1) await second.promise;
        else second.resolve();
        return { kind: 'ok', text: String(args['x']) };
      },
    });
    const model = scriptedModel([
      response(call('echo', { x: 1 }, 'a'), call('echo', { x: 2 }, 'b'), done()),
      response(say('ok'), done()),
    ]);
    const { thread } = await startTestThread({ model, tools: [tool] });
    await thread.submit(text('go'));
    await thread.idle();
    expect(shape(model.requests[1]!.input)).toEqual(['user go', 'call a', 'call b', 'output a: 1', 'output b: 2']);
  });

  test('an exclusive tool waits for shared ones and holds back later ones', async () => {
    const order: string[] = [];
    const release = deferred<void>();
    const shared = testTool({
      name: 'shared',
      run: async (args) => {
        order.push(`start ${args['n']}`);
        if (args['n'] === 1) await release.promise;
        order.push(`end ${args['n']}`);
        return { kind: 'ok', text: '' };
      },
    });
    const alone = testTool({
      name: 'alone',
      gateGroup: null,
      run: () => {
        order.push('alone');
        return { kind: 'ok', text: '' };
      },
    });
    const calls = response(
      call('shared', { n: 1 }, 'a'),
      call('alone', {}, 'b'),
      call('shared', { n: 2 }, 'c'),
      async () => release.resolve(),
      done(),
    );
    const { thread } = await startTestThread({
      model: scriptedModel([calls, response(done())]),
      tools: [shared, alone],
    });
    await thread.submit(text('go'));
    await thread.idle();
    expect(order).toEqual(['start 1', 'end 1', 'alone', 'start 2', 'end 2']);
  });

  test('calls pass the gate in the order they were made, also when one takes long to be read', async () => {
    const order: string[] = [];
    const log = (name: string) => () => {
      order.push(name);
      return { kind: 'ok', text: '' } as const;
    };
    const slow = testTool({ name: 'slow', gateGroup: 'patch', run: log('slow') });
    const parse: (typeof slow)['parse'] = async (payload, context) => {
      for (let tick = 0; tick < 5; tick++) await new Promise(setImmediate);
      return slow.parse(payload, context);
    };
    const quick = testTool({ name: 'quick', run: log('quick') });
    const model = scriptedModel([response(call('slow', {}, 'a'), call('quick', {}, 'b'), done()), response(done())]);
    const { thread } = await startTestThread({ model, tools: [{ ...slow, parse }, quick] });
    await thread.submit(text('go'));
    await thread.idle();
    expect(order).toEqual(['slow', 'quick']);
  });

  test('the same call twice in one response runs once; the same id in a later round is a new call', async () => {
    let runs = 0;
    const tool = testTool({ name: 'echo', run: () => ({ kind: 'ok', text: `run ${++runs}` }) });
    const model = scriptedModel([
      response(call('echo', { x: 1 }, 'c1'), call('echo', { x: 1 }, 'c1'), done()),
      response(call('echo', { x: 2 }, 'c1'), done()),
      response(say('ok'), done()),
    ]);
    const { thread } = await startTestThread({ model, tools: [tool] });
    await thread.submit(text('go'));
    await thread.idle();
    expect(runs).toBe(2);
    expect(shape(model.requests[2]!.input)).toEqual([
      'user go',
      'call c1',
      'output c1: run 1',
      'call c1',
      'output c1: run 2',
    ]);
  });
});

describe('errors the model can act on become outputs', () => {
  test.each([
    ['an unknown tool', call('nope', {}, 'c1'), 'unsupported call: nope'],
    [
      'the wrong payload kind',
      custom('echo', 'x', 'c1'),
      'echo was called as a freeform call with plain text, but expects a function call with JSON arguments. Call it again that way.',
    ],
    ['a refused command', call('forbidden', {}, 'c1'), 'forbidden rejected: not today'],
  ])('%s', async (_name, part, expected) => {
    const forbidden = testTool({
      name: 'forbidden',
      requirement: () => ({ kind: 'forbidden', reason: 'not today' }),
      run: () => ({ kind: 'ok', text: 'ran' }),
    });
    const model = scriptedModel([response(part, done()), response(say('ok'), done())]);
    const { thread, records } = await startTestThread({ model, tools: [echo, forbidden] });
    await thread.submit(text('go'));
    await thread.idle();
    expect(shape(model.requests[1]!.input).at(-1)).toBe(`output c1: ${expected}`);
    expect(ended(await records())).toMatchObject([{ status: 'completed' }]);
  });

  test('a crashed tool fails the turn, and its call still has an output', async () => {
    const broken = testTool({
      name: 'broken',
      run: () => {
        throw new Error('kaboom');
      },
    });
    const model = scriptedModel([
      response(call('broken', {}, 'c1'), call('echo', { x: 1 }, 'c2'), done()),
      response(say('later'), done()),
    ]);
    const { thread, records } = await startTestThread({ model, tools: [broken, echo] });
    await thread.submit(text('go'));
    await thread.idle();
    expect(ended(await records())).toMatchObject([
      { status: 'failed', error: { kind: 'internal', message: 'kaboom' } },
    ]);
    await thread.submit(text('again'));
    await thread.idle();
    expect(shape(model.requests[1]!.input)).toEqual([
      'user go',
      'call c1',
      'call c2',
      'output c1: broken failed: internal error: kaboom',
      'output c2: echo 1',
      'user again',
    ]);
  });
});

describe('failures and retries', () => {
  const cut = [...say('half an answer')];

  test('a cut stream is retried, keeps what it completed, and shows the reconnect', async () => {
    const model = scriptedModel([response(cut), response(say('whole'), done())]);
    const { thread, clock, records } = await startTestThread({ model });
    await thread.submit(text('go'));
    await clock.someoneSleeps();
    expect(clock.pendingMs).toEqual([200]);
    clock.advance(200);
    await thread.idle();
    expect(shape(model.requests[1]!.input)).toEqual(['user go', 'said half an answer']);
    const retry = (await records()).find((record) => record.type === 'sampling.ended');
    expect(retry).toMatchObject({
      result: { ok: false, willRetry: true, retry: 1, maxRetries: 2, error: { kind: 'streamCut' } },
    });
  });

  test('tools of a failed attempt are awaited, and the retry tells the model that they ran', async () => {
    const model = scriptedModel([response(call('echo', { x: 1 }, 'c1')), response(say('ok'), done())]);
    const { thread, clock } = await startTestThread({ model, tools: [echo] });
    await thread.submit(text('go'));
    await clock.someoneSleeps();
    clock.advance(1000);
    await thread.idle();
    expect(shape(model.requests[1]!.input)).toEqual(['user go', 'call c1', 'output c1: echo 1', 'context']);
    expect(model.requests[1]!.input.at(-1)).toMatchObject({
      role: 'developer',
      kind: 'retryNote',
      text: expect.stringContaining('echo (c1)'),
    });
  });

  test('retries are bounded; then the turn fails with the cause and the thread goes on', async () => {
    const model = scriptedModel([response(), response(), response(say('ok'), done())], { streamMaxRetries: 1 });
    const { thread, clock, records } = await startTestThread({ model });
    await thread.submit(text('go'));
    await clock.someoneSleeps();
    clock.advance(1000);
    await thread.idle();
    expect(ended(await records())).toMatchObject([{ status: 'failed', error: { kind: 'streamCut' } }]);
    await thread.submit(text('again'));
    await thread.idle();
    expect(ended(await records())).toHaveLength(2);
  });

  test('an answer cut by the output limit is kept and followed up once', async () => {
    const limit = { type: 'incomplete', reason: 'max_output_tokens' } as const;
    const model = scriptedModel([response(say('part one'), limit), response(say('part two'), done())]);
    const { thread, records } = await startTestThread({ model });
    await thread.submit(text('go'));
    await thread.idle();
    expect(shape(model.requests[1]!.input)).toEqual(['user go', 'said part one', 'context']);
    expect(ended(await records())).toMatchObject([{ status: 'completed' }]);
  });
});

describe('budgets', () => {
  test('max steps', async () => {
    const model = scriptedModel([1, 2, 3].map((n) => response(call('echo', { x: n }, `c${n}`), done())));
    const { thread, records } = await startTestThread({ model, tools: [echo], settings: { budget: { maxSteps: 3 } } });
    await thread.submit(text('go'));
    await thread.idle();
    expect(model.requests).toHaveLength(3);
    expect(ended(await records())).toMatchObject([{ status: 'failed', error: { kind: 'budget' } }]);
  });

  test('wall time stops a running tool and is told as a budget, not as an interrupt', async () => {
    const started = deferred<void>();
    const hang = testTool({
      name: 'hang',
      run: (_args, _context, signal) => {
        started.resolve();
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    });
    const model = scriptedModel([response(call('hang', {}, 'c1'), done())]);
    const { thread, clock, records } = await startTestThread({
      model,
      tools: [hang],
      settings: { budget: { maxWallMs: 20_000 } },
    });
    await thread.submit(text('go'));
    await started.promise;
    clock.advance(20_000);
    await thread.idle();
    expect(ended(await records())).toMatchObject([
      { status: 'failed', error: { kind: 'budget', message: expect.stringContaining('20000 ms') } },
    ]);
  });
});

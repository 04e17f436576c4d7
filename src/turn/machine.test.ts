import { describe, expect, test } from 'vitest';
import type { Item, ThreadRecord, ToolCallItem, TurnSettings } from '../protocol/index.js';
import { testSettings } from '../testing/settings.js';
import { apply, INITIAL_STATE, nextStep, type ThreadState } from './machine.js';

const settings: TurnSettings = testSettings('/w');
const start: ThreadRecord = { type: 'turn.started', turnId: 't', kind: 'regular', settings };
const user = (id: string, via: 'start' | 'steer' = 'start'): ThreadRecord => ({
  type: 'input.accepted',
  turnId: 't',
  via,
  item: { type: 'userMessage', id, content: [{ type: 'text', text: id }] },
});
const sampling = (attempt = 0): ThreadRecord => ({ type: 'sampling.started', attempt });
const ended = (endTurn?: boolean): ThreadRecord => ({
  type: 'sampling.ended',
  result: { ok: true, ...(endTurn === undefined ? {} : { endTurn }) },
});
const cut = (retry: boolean): ThreadRecord => ({
  type: 'sampling.ended',
  result: { ok: false, error: { kind: 'streamCut', message: 'cut' }, willRetry: retry, delayMs: 5 },
});
const message = (id: string): ThreadRecord => ({
  type: 'item.completed',
  item: { type: 'agentMessage', id, text: id },
});
const callItem = (callId: string, id = `fc_${callId}`): ToolCallItem => ({
  type: 'toolCall',
  id,
  callId,
  tool: 'x',
  payload: { kind: 'function', arguments: '{}' },
});
const call = (callId: string, id?: string): ThreadRecord => ({ type: 'item.completed', item: callItem(callId, id) });
const output = (callId: string, text = 'out'): ThreadRecord => ({
  type: 'item.completed',
  item: {
    type: 'toolOutput',
    id: `fco_${callId}_${text}`,
    callId,
    payloadKind: 'function',
    outcome: { kind: 'ok', text },
  },
});
const fold = (...records: ThreadRecord[]): ThreadState => records.reduce(apply, INITIAL_STATE);
const ids = (state: ThreadState) => [...state.history].map((item: Item) => item.id);
const step = (state: ThreadState, waiting = false) => nextStep(state, waiting).do;

describe('what to do next', () => {
  test.each<[string, ThreadRecord[], boolean, string]>([
    ['idle: wait', [], false, 'wait'],
    ['started: sample', [start, user('u')], false, 'sample'],
    ['fresh input is sampled before a quick steer joins', [start, user('u')], true, 'sample'],
    ['an empty start takes waiting input at once', [start], true, 'accept'],
    ['sampling: only the stream moves it', [start, user('u'), sampling()], true, 'wait'],
    ['calls open: settle', [start, user('u'), sampling(), call('a'), ended()], false, 'settle'],
    ['all outputs in: sample', [start, user('u'), sampling(), call('a'), ended(), output('a')], false, 'sample'],
    [
      'all outputs in, steer waiting: accept',
      [start, user('u'), sampling(), call('a'), ended(), output('a')],
      true,
      'accept',
    ],
    ['text only: stop hooks', [start, user('u'), sampling(), message('m'), ended()], false, 'stopHooks'],
    [
      'text only, steer waiting: accept before the hooks',
      [start, user('u'), sampling(), message('m'), ended()],
      true,
      'accept',
    ],
    [
      'hooks done: end',
      [start, user('u'), sampling(), message('m'), ended(), { type: 'hooks.ran', event: 'stop' }],
      false,
      'end',
    ],
    [
      'input during stop hooks: accept',
      [start, user('u'), sampling(), message('m'), ended(), { type: 'hooks.ran', event: 'stop' }],
      true,
      'accept',
    ],
    [
      'blocked by a stop hook: sample',
      [start, user('u'), sampling(), message('m'), ended(), { type: 'hooks.ran', event: 'stop', block: 'go on' }],
      false,
      'sample',
    ],
    ['end_turn=false: sample', [start, user('u'), sampling(), message('m'), ended(false)], false, 'sample'],
    ['cut, may retry: sample', [start, user('u'), sampling(), cut(true)], false, 'sample'],
    ['cut for good: end', [start, user('u'), sampling(), cut(false)], false, 'end'],
    [
      'failed for good with a call running: settle first',
      [start, user('u'), sampling(), call('a'), cut(false)],
      false,
      'settle',
    ],
    ['ended: wait', [start, { type: 'turn.ended', turnId: 't', status: 'completed' }], false, 'wait'],
  ])('%s', (_name, records, waiting, expected) => {
    expect(step(fold(...records), waiting)).toBe(expected);
  });

  test('a steer accepted during stop hooks runs them again afterwards', () => {
    const state = fold(
      start,
      user('u'),
      sampling(),
      message('m'),
      ended(),
      { type: 'hooks.ran', event: 'stop' },
      user('late', 'steer'),
    );
    expect(step(state)).toBe('sample');
    expect(
      step(
        fold(
          start,
          user('u'),
          sampling(),
          message('m'),
          ended(),
          { type: 'hooks.ran', event: 'stop' },
          user('late', 'steer'),
          sampling(),
          message('n'),
          ended(),
        ),
      ),
    ).toBe('stopHooks');
  });
});

describe('history', () => {
  test('outputs enter in call order, after everything of their response, whatever the order of completion', () => {
    const state = fold(
      start,
      user('u'),
      sampling(),
      call('a'),
      output('b-is-not-open'),
      call('b'),
      message('m'),
      output('b'),
      ended(),
      output('a'),
    );
    expect(ids(state)).toEqual(['u', 'fc_a', 'fc_b', 'm', 'fco_a_out', 'fco_b_out']);
  });

  test('an id used twice in one response pairs by position', () => {
    const state = fold(
      start,
      user('u'),
      sampling(),
      call('a', 'fc_1'),
      call('a', 'fc_2'),
      output('a', 'first'),
      output('a', 'second'),
      ended(),
    );
    expect(ids(state)).toEqual(['u', 'fc_1', 'fc_2', 'fco_a_first', 'fco_a_second']);
  });

  test('a failed attempt keeps what it completed, and the retry knows its calls', () => {
    const state = fold(start, user('u'), sampling(), message('m'), call('a'), cut(true), output('a'));
    expect(ids(state)).toEqual(['u', 'm', 'fc_a', 'fco_a_out']);
    expect(state.turn).toMatchObject({ attempt: 1, retryDelayMs: 5, madeBeforeRetry: [callItem('a')] });
  });

  test('outputs of an interrupted turn are kept', () => {
    const state = fold(start, user('u'), sampling(), call('a'), output('a'), {
      type: 'turn.ended',
      turnId: 't',
      status: 'interrupted',
    });
    expect(ids(state)).toEqual(['u', 'fc_a', 'fco_a_out']);
    expect(state.turn).toBeUndefined();
  });

  test('an old state is not changed by applying more to it', () => {
    const before = fold(start, user('u'));
    apply(before, message('m'));
    apply(before, message('n'));
    expect(ids(before)).toEqual(['u']);
    expect(ids(apply(before, message('o')))).toEqual(['u', 'o']);
  });
});

describe('budgets', () => {
  const withBudget = (budget: TurnSettings['budget']): ThreadRecord => ({
    type: 'turn.started',
    turnId: 't',
    kind: 'regular',
    settings: { ...settings, budget },
  });
  const round = (n: number, tokens: number): ThreadRecord[] => [
    sampling(),
    call(`c${n}`),
    {
      type: 'sampling.ended',
      result: {
        ok: true,
        usage: {
          inputTokens: tokens,
          cachedInputTokens: 0,
          cacheWriteInputTokens: 0,
          outputTokens: 0,
          reasoningOutputTokens: 0,
          totalTokens: tokens,
        },
      },
    },
    output(`c${n}`),
  ];

  test('max steps: ends before the request that would be one too many', () => {
    const two = fold(withBudget({ maxSteps: 2 }), user('u'), ...round(1, 1), ...round(2, 1));
    expect(nextStep(two, false)).toMatchObject({ do: 'end', status: 'failed', error: { kind: 'budget' } });
    expect(step(fold(withBudget({ maxSteps: 3 }), user('u'), ...round(1, 1), ...round(2, 1)))).toBe('sample');
  });

  test('max tokens: counts this turn only', () => {
    const ended: ThreadRecord = { type: 'turn.ended', turnId: 't', status: 'completed' };
    const second = fold(
      withBudget({ maxTokens: 100 }),
      user('u'),
      ...round(1, 90),
      ended,
      withBudget({ maxTokens: 100 }),
      user('v'),
      ...round(2, 90),
    );
    expect(step(second)).toBe('sample');
    expect(step([...round(3, 20)].reduce(apply, second))).toBe('end');
  });
});

import { expect, test } from 'vitest';
import type { SamplingResult } from '../protocol/index.js';
import { decideFollowUp, type FollowUp, type FollowUpInput, MAX_EMPTY_FOLLOW_UPS } from './follow-up.js';

const turn: FollowUpInput = { sampled: { text: false, calls: 0 }, attempt: 0, emptyFollowUps: 0, truncations: 0 };
const text = { ...turn, sampled: { text: true, calls: 0 } };
const calls = { ...turn, sampled: { text: false, calls: 2 } };
const ok: SamplingResult = { ok: true };
const error = { kind: 'streamCut', message: 'cut' } as const;

test.each<[string, SamplingResult, FollowUpInput, Partial<FollowUp>]>([
  ['text only, end_turn absent: done', ok, text, { after: 'finish' }],
  ['text only, end_turn=true: done', { ok: true, endTurn: true }, text, { after: 'finish' }],
  [
    'text only, end_turn=false: samples again',
    { ok: true, endTurn: false },
    text,
    { after: 'next', emptyFollowUps: 0 },
  ],
  ['a call: samples again', ok, calls, { after: 'next' }],
  ['a call, end_turn=true: samples again all the same', { ok: true, endTurn: true }, calls, { after: 'next' }],
  ['nothing at all: done without a message', ok, turn, { after: 'finish' }],
  ['nothing, end_turn=false: counts', { ok: true, endTurn: false }, turn, { after: 'next', emptyFollowUps: 1 }],
  [
    'nothing, end_turn=false for ever: given up',
    { ok: true, endTurn: false },
    { ...turn, emptyFollowUps: MAX_EMPTY_FOLLOW_UPS - 1 },
    {
      after: 'fail',
      failure: { kind: 'loop', message: 'the model asked to go on 20 times in a row without saying or doing anything' },
    },
  ],
  [
    'text resets the count',
    { ok: true, endTurn: false },
    { ...text, emptyFollowUps: 7 },
    { after: 'next', emptyFollowUps: 0 },
  ],
  ['cut for a steer: samples again', { ok: true, cut: true }, text, { after: 'next' }],
  [
    'cut by the output limit: follows up once',
    { ok: true, truncated: true, reason: 'max_output_tokens' },
    text,
    { after: 'next', truncations: 1 },
  ],
  [
    'cut by the output limit twice: fails',
    { ok: true, truncated: true, reason: 'max_output_tokens' },
    { ...text, truncations: 1 },
    {
      after: 'fail',
      failure: { kind: 'incomplete', message: 'incomplete response returned, reason: max_output_tokens' },
    },
  ],
  [
    'failed, may retry: the same sampling again',
    { ok: false, error, willRetry: true, delayMs: 400 },
    { ...turn, attempt: 1 },
    { after: 'retry', attempt: 2, retryDelayMs: 400 },
  ],
  ['failed for good: fails', { ok: false, error, willRetry: false }, calls, { after: 'fail', failure: error }],
])('%s', (_name, result, input, expected) => {
  expect(decideFollowUp(result, input)).toMatchObject(expected);
});

import { expect, test } from 'vitest';
import type { ModelFailure } from '../protocol/index.js';
import { planRetry, type RetryPlan } from './retry.js';

const failure = (kind: ModelFailure['kind'], more: Partial<ModelFailure> = {}): ModelFailure => ({
  kind,
  message: '',
  ...more,
});
const FINAL: RetryPlan = { retry: false };
const after = (delayMs: number): RetryPlan => ({ retry: true, delayMs });

test.each<[string, ModelFailure, number, number, number, RetryPlan]>([
  ['a cut stream: back-off', failure('streamCut'), 1, 5, 0.5, after(200)],
  ['the back-off doubles', failure('streamCut'), 4, 5, 0.5, after(1600)],
  ['jitter takes up to 10 % off', failure('streamCut'), 1, 5, 0, after(180)],
  ['jitter adds up to 10 %', failure('streamCut'), 1, 5, 0.9999, after(220)],
  ['the last retry', failure('idleTimeout'), 5, 5, 0.5, after(3200)],
  ['past the last retry', failure('idleTimeout'), 6, 5, 0.5, FINAL],
  ['no retries allowed', failure('streamCut'), 1, 0, 0.5, FINAL],
  ['a connection that does not open', failure('connection'), 1, 5, 0.5, after(200)],
  ['a server error inside the stream', failure('serverError'), 1, 5, 0.5, after(200)],
  ['HTTP 5xx after its silent retries', failure('serverError', { httpStatus: 503 }), 1, 5, 0.5, FINAL],
  [
    'a rate limit: the server names the delay',
    failure('rateLimited', { httpStatus: 429, retryAfterMs: 7 }),
    3,
    5,
    0.5,
    after(7),
  ],
  ['a server that asks for no delay', failure('rateLimited', { retryAfterMs: 0 }), 1, 5, 0.5, after(0)],
  ['a rate limit without a delay', failure('rateLimited', { httpStatus: 429 }), 1, 5, 0.5, after(200)],
  ['a server that asks for an hour', failure('rateLimited', { retryAfterMs: 3_600_000 }), 1, 5, 0.5, FINAL],
  ['a rejected key', failure('unauthorized', { httpStatus: 401 }), 1, 5, 0.5, FINAL],
  ['a used-up plan', failure('usageLimit'), 1, 5, 0.5, FINAL],
  ['a bad request', failure('badRequest', { httpStatus: 400 }), 1, 5, 0.5, FINAL],
  ['an unknown model', failure('modelNotFound'), 1, 5, 0.5, FINAL],
  ['a full context window', failure('contextFull'), 1, 5, 0.5, FINAL],
  ['an incomplete response', failure('incomplete'), 1, 5, 0.5, FINAL],
  ['a refusal', failure('refused'), 1, 5, 0.5, FINAL],
  ['a spent budget', failure('budget'), 1, 5, 0.5, FINAL],
  ['a bug', failure('internal'), 1, 5, 0.5, FINAL],
])('%s', (_name, error, attempt, max, random, expected) => {
  expect(planRetry(error, attempt, max, random)).toEqual(expected);
});

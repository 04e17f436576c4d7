import { describe, expect, test } from 'vitest';
import { connectionFailure, delayInText, httpFailure, serverDelayMs, streamFailure } from './failure.js';

const PROVIDER = { id: 'p', name: 'Acme', baseUrl: 'http://acme/v1', envKey: 'ACME_KEY' };
const NOW = Date.parse('2026-01-01T00:00:00Z');

function http(status: number, body: unknown, retryAfter?: string) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return httpFailure(PROVIDER, 'm-1', { status, retryAfter, body: text }, NOW);
}

describe('HTTP errors', () => {
  const error = (message: string, more: object = {}) => ({ error: { message, ...more } });
  test.each<[string, number, unknown, string, RegExp]>([
    [
      'bad request',
      400,
      error('bad thing', { code: 'x' }),
      'badRequest',
      /Acme rejected the request \(400\): bad thing/,
    ],
    ['a body without a message', 400, {}, 'badRequest', /gave no reason/],
    ['an HTML body', 400, '<html><body>nginx</body></html>', 'badRequest', /^(?!.*html)/],
    ['FastAPI', 422, { detail: [{ msg: 'field required' }] }, 'badRequest', /field required/],
    ['a bare string', 400, { error: 'no such thing' }, 'badRequest', /no such thing/],
    ['a list around the error', 400, [error('inside')], 'badRequest', /inside/],
    ['context, by code', 400, error('too long', { code: 'context_length_exceeded' }), 'contextFull', /context window/],
    ['context, by words', 400, error('prompt is too long: 9 > 8'), 'contextFull', /context window.*9 > 8/],
    ['llama.cpp context', 400, error('x', { type: 'exceed_context_size_error' }), 'contextFull', /context window/],
    ['unauthorized', 401, error('bad key'), 'unauthorized', /401 unauthorized.*bad key.*ACME_KEY/],
    ['forbidden', 403, error('no'), 'unauthorized', /403 forbidden/],
    ['model', 404, error('The model x does not exist', { code: 'model_not_found' }), 'modelNotFound', /"m-1"/],
    ['wrong address', 404, '404 page not found', 'badRequest', /404/],
    ['rate', 429, error('slow down'), 'rateLimited', /rate limit.*slow down/],
    ['quota', 429, error('pay', { code: 'insufficient_quota' }), 'usageLimit', /usage limit/],
    [
      'plan',
      429,
      error('over', { type: 'usage_limit_reached', resets_in_seconds: 90 }),
      'usageLimit',
      /resets in 2 min/,
    ],
    ['payment', 402, error('credits'), 'usageLimit', /credits/],
    ['server', 500, error('boom'), 'serverError', /high demand.*500.*boom/],
    ['overloaded', 529, error('busy', { type: 'overloaded_error' }), 'serverError', /529/],
  ])('%s', (_name, status, body, kind, message) => {
    const failure = http(status, body);
    expect(failure).toMatchObject({ kind, httpStatus: status });
    expect(failure.message).toMatch(message);
    expect(failure.message).not.toMatch(/[{}]/);
  });
});

describe('delays a server names', () => {
  const answer = (retryAfter?: string, retryAfterMs?: string) => ({ status: 429, retryAfter, retryAfterMs, body: '' });
  test.each<[string, ReturnType<typeof answer>, string, number | undefined]>([
    ['seconds', answer('3'), '', 3000],
    ['a date', answer('Thu, 01 Jan 2026 00:00:20 GMT'), '', 20_000],
    ['a date in the past', answer('Thu, 01 Jan 2025 00:00:20 GMT'), '', 0],
    ['milliseconds win', answer('3', '250'), '', 250],
    ['the message', answer(), 'Please try again in 1.5s.', 1500],
    ['nothing', answer(), 'slow down', undefined],
    ['nonsense', answer('soon'), '', undefined],
  ])('%s', (_name, given, message, expected) => {
    expect(serverDelayMs(given, message, NOW)).toBe(expected);
  });

  test.each([
    ['Please try again in 1.2s.', 1200],
    ['try again in 20ms', 20],
    ['Try again in 1m3.5s. Visit', 63_500],
    ['try again in 28 seconds', 28_000],
    ['retry after 2 minutes', 120_000],
    ['Please try again in 1h2m.', 3_720_000],
    ['try again later', undefined],
  ])('%s', (message, expected) => {
    expect(delayInText(message)).toBe(expected);
  });

  test('they come with the failure', () => {
    expect(http(429, {}, '2').retryAfterMs).toBe(2000);
    expect(streamFailure(PROVIDER, 'm', 'rate_limit_exceeded', 'try again in 1s').retryAfterMs).toBe(1000);
    expect(http(400, {}, '2')).not.toHaveProperty('retryAfterMs');
  });
});

test.each([
  ['context_length_exceeded', 'contextFull'],
  ['insufficient_quota', 'usageLimit'],
  ['rate_limit_exceeded', 'rateLimited'],
  ['invalid_prompt', 'badRequest'],
  ['server_error', 'serverError'],
  ['something_new', 'serverError'],
  ['', 'serverError'],
])('an error inside the stream: %s', (code, kind) => {
  const failure = streamFailure(PROVIDER, 'm', code, 'what it said');
  expect(failure.kind).toBe(kind);
  expect(failure.message).toContain('what it said');
  expect(failure).not.toHaveProperty('httpStatus');
});

test('a refused connection names the address and what to do, also when several addresses were tried', () => {
  const refused = Object.assign(new Error(''), { code: 'ECONNREFUSED' });
  for (const error of [refused, Object.assign(new Error(''), { errors: [refused] })]) {
    expect(connectionFailure(PROVIDER, error).message).toMatch(
      /http:\/\/acme\/v1 \(connection refused\): start the server/,
    );
  }
});

/**
 * What went wrong at a provider, as a kind and a sentence. Raw bodies never reach a person: the provider's own message
 * is taken out of them.
 */
import type { FailureKind, ModelFailure } from '../protocol/index.js';

/** Whom a sentence is about. */
export interface ProviderFacts {
  readonly id: string;
  readonly name: string;
  readonly baseUrl: string;
  /** The variable that holds the key, when there is one. */
  readonly envKey?: string;
}

export interface HttpAnswer {
  readonly status: number;
  readonly retryAfter?: string | undefined;
  readonly retryAfterMs?: string | undefined;
  readonly body: string;
}

const MAX_MESSAGE_CHARS = 500;

const CONTEXT_CODES = new Set(['context_length_exceeded', 'exceed_context_size_error', 'context_window_exceeded']);
const CONTEXT_WORDS =
  /context (length|window)|maximum context|prompt is too long|too many (input )?tokens|exceeds? the context/i;
const USAGE_CODES = new Set([
  'insufficient_quota',
  'usage_limit_reached',
  'usage_not_included',
  'billing_hard_limit_reached',
  'billing_not_active',
  'credit_balance_too_low',
]);
const REFUSAL_CODES = new Set(['content_policy_violation', 'cyber_policy_violation', 'bio_policy', 'content_filter']);

/** The failure behind an HTTP status other than 2xx. */
export function httpFailure(provider: ProviderFacts, model: string, answer: HttpAnswer, nowMs: number): ModelFailure {
  const { status } = answer;
  const said = readError(answer.body);
  const kind = httpKind(status, said);
  const retryAfterMs =
    kind === 'rateLimited' || kind === 'serverError' ? serverDelayMs(answer, said.message, nowMs) : undefined;
  return {
    kind,
    message: sentence(kind, provider, model, status, said),
    httpStatus: status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** An error a provider reports inside a stream that began well (`response.failed`, `{"error":…}`). */
export function streamFailure(provider: ProviderFacts, model: string, code: string, message: string): ModelFailure {
  const said = { code, message: clean(message), resetsInSeconds: undefined };
  const kind = streamKind(said);
  const retryAfterMs = kind === 'rateLimited' || kind === 'serverError' ? delayInText(said.message) : undefined;
  return {
    kind,
    message: sentence(kind, provider, model, undefined, said),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** No connection, or one that broke before the answer began. */
export function connectionFailure(provider: ProviderFacts, error: unknown): ModelFailure {
  const why = transportReason(error);
  return {
    kind: 'connection',
    message:
      `cannot reach ${provider.name} at ${provider.baseUrl} (${why}): ` +
      (why === 'connection refused'
        ? `start the server, or correct base_url of model provider ${provider.id}`
        : 'check the network, the proxy variables and base_url'),
  };
}

/** The body broke off. */
export function cutFailure(error: unknown): ModelFailure {
  return { kind: 'streamCut', message: `stream disconnected before completion: ${transportReason(error)}` };
}

export function idleFailure(provider: ProviderFacts, idleMs: number): ModelFailure {
  return {
    kind: 'idleTimeout',
    message: `stream disconnected before completion: ${provider.name} sent nothing for ${idleMs / 1000} s`,
  };
}

/** Milliseconds the server asks to wait: header in seconds or as a date, else "try again in 1.2s" in the message. */
export function serverDelayMs(answer: HttpAnswer, message: string, nowMs: number): number | undefined {
  const exact = Number.parseFloat(answer.retryAfterMs ?? '');
  if (exact >= 0) return Math.round(exact);
  const header = answer.retryAfter?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(header)) return Math.round(Number(header) * 1000);
  const date = header === '' ? Number.NaN : Date.parse(header);
  if (!Number.isNaN(date)) return Math.max(0, date - nowMs);
  return delayInText(message);
}

/** "try again in 1.2s", "… in 20ms", "… in 1m3.5s", "… in 28 seconds". */
export function delayInText(message: string): number | undefined {
  const found =
    /(?:try again|retry) (?:in|after) ((?:[\d.]+ ?(?:ms|milliseconds?|s|sec|seconds?|m|min|minutes?|h|hours?)\b ?)+|(?:[\d.]+(?:ms|s|m|h))+)/i.exec(
      message,
    );
  if (!found?.[1]) return undefined;
  let total = 0;
  for (const [, amount, unit] of found[1].matchAll(/([\d.]+) ?(ms|milli|s|m|h)/gi)) {
    total += Number.parseFloat(amount ?? '') * unitMs(unit ?? '');
  }
  return Number.isFinite(total) ? Math.ceil(total) : undefined;
}

function unitMs(unit: string): number {
  switch (unit.toLowerCase()) {
    case 'ms':
    case 'milli':
      return 1;
    case 's':
      return 1000;
    case 'm':
      return 60_000;
    default:
      return 3_600_000;
  }
}

interface Said {
  readonly code: string;
  readonly message: string;
  readonly resetsInSeconds: number | undefined;
}

/** The error object of the bodies in use: OpenAI's, Anthropic's, FastAPI's, a bare string, or plain text. */
function readError(body: string): Said {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    const plain = body.trim();
    return { code: '', message: plain.startsWith('<') ? '' : clean(plain), resetsInSeconds: undefined };
  }
  const outer = record(Array.isArray(parsed) ? parsed[0] : parsed);
  const error = typeof outer['error'] === 'string' ? { message: outer['error'] } : record(outer['error'] ?? outer);
  const message = error['message'] ?? error['detail'] ?? outer['message'] ?? outer['detail'] ?? '';
  const resets = error['resets_in_seconds'];
  return {
    code: [error['code'], error['type']].filter((word) => typeof word === 'string' && word !== '').join(' '),
    message: clean(typeof message === 'string' ? message : detailText(message)),
    resetsInSeconds: typeof resets === 'number' ? resets : undefined,
  };
}

/** FastAPI lists what is wrong: `[{"msg":…}]`. */
function detailText(detail: unknown): string {
  const list = Array.isArray(detail) ? detail : [detail];
  return list.map((entry) => record(entry)['msg'] ?? record(entry)['message'] ?? '').join('; ');
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function clean(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > MAX_MESSAGE_CHARS ? `${line.slice(0, MAX_MESSAGE_CHARS)}…` : line;
}

function hasCode(said: Said, codes: ReadonlySet<string>): boolean {
  return said.code.split(' ').some((code) => codes.has(code));
}

function httpKind(status: number, said: Said): FailureKind {
  if (status === 401 || status === 403) return 'unauthorized';
  if (hasCode(said, USAGE_CODES) || status === 402) return 'usageLimit';
  if (status === 429) return 'rateLimited';
  if (status >= 500 || status === 408) return 'serverError';
  if (hasCode(said, CONTEXT_CODES) || CONTEXT_WORDS.test(said.message)) return 'contextFull';
  if (status === 404 && /model/i.test(`${said.code} ${said.message}`)) return 'modelNotFound';
  if (hasCode(said, REFUSAL_CODES)) return 'refused';
  return 'badRequest';
}

function streamKind(said: Said): FailureKind {
  if (hasCode(said, CONTEXT_CODES)) return 'contextFull';
  if (hasCode(said, USAGE_CODES)) return 'usageLimit';
  if (hasCode(said, REFUSAL_CODES)) return 'refused';
  switch (said.code.split(' ')[0]) {
    case 'rate_limit_exceeded':
    case 'rate_limit_error':
      return 'rateLimited';
    case 'invalid_prompt':
    case 'invalid_request_error':
      return CONTEXT_WORDS.test(said.message) ? 'contextFull' : 'badRequest';
    case 'authentication_error':
    case 'permission_error':
      return 'unauthorized';
    case 'model_not_found':
    case 'not_found_error':
      return 'modelNotFound';
    default:
      return 'serverError';
  }
}

function sentence(
  kind: FailureKind,
  provider: ProviderFacts,
  model: string,
  status: number | undefined,
  said: Said,
): string {
  const { name } = provider;
  const at = status === undefined ? '' : ` (${status})`;
  const own = said.message === '' ? '' : `: ${said.message}`;
  switch (kind) {
    case 'unauthorized': {
      const key = provider.envKey === undefined ? 'the key of this provider' : `the key in ${provider.envKey}`;
      return `${name} rejected the API key${status === undefined ? '' : ` (${status} ${status === 401 ? 'unauthorized' : 'forbidden'})`}${own}; check ${key}`;
    }
    case 'modelNotFound':
      return `${name} does not offer the model ${JSON.stringify(model)}${at}${own}; choose another with --model`;
    case 'contextFull':
      return `the conversation no longer fits into the model's context window${own}; compact it or start a new thread`;
    case 'usageLimit': {
      const resets =
        said.resetsInSeconds === undefined ? '' : ` (resets in ${Math.ceil(said.resetsInSeconds / 60)} min)`;
      return `the usage limit of your ${name} account is reached${resets}${own}`;
    }
    case 'rateLimited':
      return `rate limit of ${name} exceeded${at}${own}`;
    case 'serverError':
      return status === undefined
        ? `${name} reported a server error${own}`
        : `${name} is under high demand or out of order right now (server error ${status})${own}; try again in a moment`;
    case 'refused':
      return `${name} refused the request by its content policy${at}${own}`;
    default:
      return `${name} rejected the request${at}${own === '' ? '; it gave no reason' : own}`;
  }
}

function transportReason(error: unknown): string {
  const facts = record(error);
  switch (facts['code']) {
    case 'ECONNREFUSED':
      return 'connection refused';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'host name not found';
    case 'ECONNRESET':
    case 'EPIPE':
      return 'connection closed by the server';
    case 'ETIMEDOUT':
      return 'connection timed out';
    default: {
      // An error that tried several addresses has no message of its own.
      const inner = Array.isArray(facts['errors']) ? facts['errors'][0] : undefined;
      if (inner !== undefined) return transportReason(inner);
      return typeof facts['message'] === 'string' && facts['message'] !== '' ? facts['message'] : String(error);
    }
  }
}

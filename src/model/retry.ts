/**
 * Whether a failed sampling is tried again, and when. Pure.
 * Codex 0.171: back-off 200 ms · 2^(n−1) ± 10 %, a delay the server names wins, HTTP 5xx is final once the silent request
 * retries are used up. Not Codex's: 401 and 403 are final.
 */
import { assertNever, type ModelFailure } from '../protocol/index.js';

const BASE_DELAY_MS = 200;
const JITTER = 0.1;

/** A server that asks for more than this is not waited for; the person decides. */
export const MAX_SERVER_DELAY_MS = 15 * 60_000;

export type RetryPlan = { readonly retry: true; readonly delayMs: number } | { readonly retry: false };

/** `attempt` is the number of the retry that would come next, from 1. `random` lies in [0, 1). */
export function planRetry(failure: ModelFailure, attempt: number, maxRetries: number, random: number): RetryPlan {
  if (attempt > maxRetries || !isTransient(failure)) return { retry: false };
  const asked = failure.retryAfterMs;
  if (asked !== undefined && asked > MAX_SERVER_DELAY_MS) return { retry: false };
  return { retry: true, delayMs: asked ?? backoffMs(attempt, random) };
}

/** The n-th wait, `n` from 1. */
export function backoffMs(n: number, random: number): number {
  return Math.round(BASE_DELAY_MS * 2 ** (n - 1) * (1 - JITTER + 2 * JITTER * random));
}

function isTransient(failure: ModelFailure): boolean {
  switch (failure.kind) {
    case 'streamCut':
    case 'idleTimeout':
    case 'connection':
    case 'rateLimited':
      return true;
    case 'serverError':
      return failure.httpStatus === undefined;
    case 'usageLimit':
    case 'unauthorized':
    case 'badRequest':
    case 'modelNotFound':
    case 'contextFull':
    case 'incomplete':
    case 'refused':
    case 'budget':
    case 'loop':
    case 'internal':
      return false;
    default:
      return assertNever(failure.kind);
  }
}

/** Whether the model is done. One pure function, so that the whole rule fits in one table test. */
import type { ModelFailure, SamplingResult } from '../protocol/index.js';

/** Follow-ups that bring neither text nor a call before the turn is given up (Codex has no such limit). */
export const MAX_EMPTY_FOLLOW_UPS = 20;

/** What one sampling brought. */
export interface SamplingFacts {
  readonly text: boolean;
  readonly calls: number;
}

export interface FollowUpInput {
  readonly sampled: SamplingFacts;
  readonly attempt: number;
  readonly emptyFollowUps: number;
  readonly truncations: number;
}

export interface FollowUp {
  readonly after: 'next' | 'retry' | 'finish' | 'fail';
  readonly attempt: number;
  readonly retryDelayMs: number;
  readonly emptyFollowUps: number;
  readonly truncations: number;
  readonly failure?: ModelFailure;
}

/**
 * Codex 0.171: any call means another round, also with `end_turn: true`; `end_turn: false` asks for one; text alone
 * or nothing at all ends the turn. An answer cut by the output limit is kept and followed up once.
 */
export function decideFollowUp(result: SamplingResult, turn: FollowUpInput): FollowUp {
  const same = { attempt: 0, retryDelayMs: 0, emptyFollowUps: 0, truncations: turn.truncations };
  if (!result.ok) {
    if (!result.willRetry) return { ...same, after: 'fail', failure: result.error };
    return {
      ...same,
      after: 'retry',
      attempt: turn.attempt + 1,
      retryDelayMs: result.delayMs ?? 0,
      emptyFollowUps: turn.emptyFollowUps,
    };
  }
  if ('cut' in result) return { ...same, after: 'next' };
  if ('truncated' in result) return followTruncation(result.reason, turn, same);
  if (turn.sampled.calls > 0) return { ...same, after: 'next' };
  if (result.endTurn !== false) return { ...same, after: 'finish' };
  const emptyFollowUps = turn.sampled.text ? 0 : turn.emptyFollowUps + 1;
  if (emptyFollowUps < MAX_EMPTY_FOLLOW_UPS) return { ...same, after: 'next', emptyFollowUps };
  const message = `the model asked to go on ${emptyFollowUps} times in a row without saying or doing anything`;
  return { ...same, after: 'fail', emptyFollowUps, failure: { kind: 'loop', message } };
}

function followTruncation(reason: string, turn: FollowUpInput, same: Omit<FollowUp, 'after'>): FollowUp {
  const message = `incomplete response returned, reason: ${reason}`;
  if (turn.truncations > 0) return { ...same, after: 'fail', failure: { kind: 'incomplete', message } };
  return { ...same, after: 'next', truncations: 1 };
}

/**
 * Records are facts: written before anyone sees them, numbered, and all that is needed to rebuild a thread.
 * Deltas are pictures of work in progress: never stored, never needed.
 */
import type { Amendment, ApprovalRequest, ReviewDecision, UserQuestion } from './approvals.js';
import type { Decision, Item, ToolView, UserInput } from './items.js';
import type { ThreadSettings, TurnSettings, Usage } from './settings.js';

export type TurnKind = 'regular' | 'review' | 'compact';

/** Why a sampling failed. The retry rule and the error a client sees follow from the kind. */
export type FailureKind =
  | 'streamCut'
  | 'idleTimeout'
  | 'connection'
  | 'serverError'
  | 'rateLimited'
  | 'usageLimit'
  | 'unauthorized'
  | 'badRequest'
  | 'modelNotFound'
  | 'contextFull'
  | 'incomplete'
  | 'refused'
  | 'budget'
  | 'loop'
  | 'internal';

export interface ModelFailure {
  readonly kind: FailureKind;
  /** A sentence for a person. */
  readonly message: string;
  readonly httpStatus?: number;
  /** A delay the server asked for. */
  readonly retryAfterMs?: number;
}

export type SamplingResult =
  | { readonly ok: true; readonly endTurn?: boolean; readonly usage?: Usage; readonly responseId?: string }
  /** Cut on purpose so that new input can join at once. */
  | { readonly ok: true; readonly cut: true; readonly usage?: Usage }
  /** Ended by the output limit; text so far is kept and the turn follows up once. */
  | { readonly ok: true; readonly truncated: true; readonly reason: string; readonly usage?: Usage }
  | {
      readonly ok: false;
      readonly error: ModelFailure;
      readonly willRetry: boolean;
      /** Which retry comes next and how many there may be, when `willRetry`. */
      readonly retry?: number;
      readonly maxRetries?: number;
      readonly delayMs?: number;
    };

export type TurnStatus = 'completed' | 'interrupted' | 'failed';

export type ThreadRecord =
  | { readonly type: 'thread.started'; readonly settings: ThreadSettings }
  | { readonly type: 'turn.started'; readonly turnId: string; readonly kind: TurnKind; readonly settings: TurnSettings }
  | {
      readonly type: 'input.accepted';
      readonly turnId: string;
      readonly item: Item;
      readonly via: 'start' | 'steer' | 'mailbox';
    }
  | { readonly type: 'sampling.started'; readonly attempt: number }
  /** A finished item. Outputs may be recorded in any order; history lists them in call order. */
  | { readonly type: 'item.completed'; readonly item: Item }
  | { readonly type: 'sampling.ended'; readonly result: SamplingResult }
  | { readonly type: 'approval.asked'; readonly request: ApprovalRequest }
  | {
      readonly type: 'approval.answered';
      readonly approvalId: string;
      readonly decision: ReviewDecision;
      readonly by: 'cache' | 'hook' | 'guardian' | 'user' | 'default';
    }
  | { readonly type: 'question.asked'; readonly callId: string; readonly questions: readonly UserQuestion[] }
  | {
      readonly type: 'question.answered';
      readonly callId: string;
      readonly answers: Readonly<Record<string, readonly string[]>> | null;
    }
  /** Written before the effect: a call with this record and no output is never run again. */
  | {
      readonly type: 'tool.started';
      readonly callId: string;
      readonly attempt: 1 | 2;
      /** Name of the sandbox it runs in: `bwrap`, `landlock`, `none` … */
      readonly sandbox: string;
      readonly view: ToolView;
      readonly decision?: Decision;
    }
  | { readonly type: 'amendment.learned'; readonly amendment: Amendment }
  | { readonly type: 'history.compacted'; readonly replaces: number; readonly summary: Item }
  | { readonly type: 'hooks.ran'; readonly event: 'stop' | 'sessionStart' | 'userPrompt'; readonly block?: string }
  | { readonly type: 'warning'; readonly message: string }
  | {
      readonly type: 'turn.ended';
      readonly turnId: string;
      readonly status: TurnStatus;
      /** Why an interrupted turn ended: `user`, `replaced`, `processDied`, `shutdown`, or a client's word. */
      readonly reason?: string;
      readonly error?: ModelFailure;
      /** Input that was accepted but never reached the model; given back so that nothing typed is lost. */
      readonly pendingInput?: readonly (readonly UserInput[])[];
    };

/** A record as stored. `seq` starts at 1 and has no gaps; `atMs` is Unix time. */
export interface Stored {
  readonly seq: number;
  readonly atMs: number;
  readonly record: ThreadRecord;
}

export type Delta =
  | {
      readonly type: 'item.started';
      readonly itemId: string;
      readonly itemType: 'agentMessage' | 'reasoning' | 'toolCall';
      readonly tool?: string;
    }
  | { readonly type: 'text'; readonly itemId: string; readonly text: string }
  | { readonly type: 'reasoning'; readonly itemId: string; readonly part: number; readonly text: string }
  | { readonly type: 'arguments'; readonly itemId: string; readonly text: string }
  | { readonly type: 'item.discarded'; readonly itemId: string }
  | { readonly type: 'command.output'; readonly callId: string; readonly text: string }
  /** The net unified diff of the turn's patches so far; empty when they cancel out. */
  | { readonly type: 'turn.diff'; readonly diff: string }
  /** A background command ended after its call. */
  | {
      readonly type: 'session.ended';
      readonly callId: string;
      readonly sessionId: number;
      readonly exitCode: number | null;
    };

export type ThreadEvent =
  | { readonly kind: 'record'; readonly stored: Stored }
  | { readonly kind: 'delta'; readonly delta: Delta };

/** Approvals: a question to a decider, and the answer. */
import type { ToolView } from './items.js';

/** A rule learned from an answer: commands that begin with these words may run. */
export interface Amendment {
  readonly prefix: readonly string[];
}

/** What policy says about a call, before anyone is asked. */
export type Requirement =
  | {
      readonly kind: 'skip';
      /** Every segment was allowed by an explicit rule, so it runs outside the sandbox. */
      readonly bypassSandbox: boolean;
      readonly proposed?: Amendment;
      readonly rule?: string;
    }
  | {
      readonly kind: 'needsApproval';
      readonly reason?: string;
      /** The answer may not be remembered and does not cover a second attempt. */
      readonly once?: true;
      readonly proposed?: Amendment;
      readonly rule?: string;
    }
  | { readonly kind: 'forbidden'; readonly reason: string; readonly rule?: string };

/** An answer a client may give. The engine computes which ones fit and sends them with the question. */
export type ReviewDecision =
  | { readonly type: 'accept' }
  | { readonly type: 'acceptForSession' }
  | { readonly type: 'acceptWithAmendment'; readonly amendment: Amendment }
  /** Refuses this call; the turn goes on. */
  | { readonly type: 'decline'; readonly reason?: string }
  /** Refuses and ends the turn. */
  | { readonly type: 'cancel' }
  /** The question could not be put to anybody; nobody refused, the call fails, the turn goes on. */
  | { readonly type: 'failed'; readonly reason: string }
  /** Nobody answered in time; the turn goes on. */
  | { readonly type: 'timedOut' };

export interface ApprovalRequest {
  readonly approvalId: string;
  readonly turnId: string;
  readonly callId: string;
  readonly view: ToolView;
  readonly reason?: string;
  /** 1: before the first run. 2: before the run outside the sandbox. */
  readonly attempt: 1 | 2;
  readonly choices: readonly ReviewDecision[];
}

/** A question of the model to the person. */
export interface UserQuestion {
  readonly id: string;
  readonly header: string;
  readonly question: string;
  readonly options: readonly { readonly label: string; readonly description: string }[];
}

/** The asker port: somebody who can answer an approval. The thread implements it with its waiting table. */
import type { ApprovalRequest, ReviewDecision } from '../protocol/index.js';

export interface Asker {
  /** Rejects with `signal.reason` when the turn is interrupted while the question is open. */
  ask(request: ApprovalRequest, signal: AbortSignal): Promise<ReviewDecision>;
}

/** A permission hook: any of these verdicts, or undefined for no opinion. */
export interface PermissionHook {
  decide(request: ApprovalRequest, signal: AbortSignal): Promise<{ allow: boolean; reason?: string } | undefined>;
}

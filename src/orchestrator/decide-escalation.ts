/** What to do when the sandbox refused something: give up, or run again outside it. */
import type { ApprovalPolicy, SandboxDenialFacts } from '../protocol/index.js';

export interface EscalationFacts {
  readonly denial: SandboxDenialFacts;
  readonly escalateOnFailure: boolean;
  readonly approvalPolicy: ApprovalPolicy;
  /** Policies that hide files may never be left. */
  readonly unsandboxedAllowed: boolean;
}

export type Escalation =
  | { readonly kind: 'fail'; readonly why: string }
  | { readonly kind: 'retry'; readonly ask: true };

/**
 * Codex 0.171: `never` and `on-request` do not ask for a second run, `untrusted` and granular `sandbox_approval` do.
 * Its first approval silently covers the second run; ours asks again, because "run it" is not "run it unconfined".
 */
export function decideEscalation(facts: EscalationFacts): Escalation {
  if (!facts.escalateOnFailure) return fail('this tool is not run again outside the sandbox');
  if (!asksToLeaveSandbox(facts.approvalPolicy)) return fail('the approval policy does not offer to leave the sandbox');
  if (!facts.unsandboxedAllowed) return fail('the sandbox policy hides files and may not be left');
  return { kind: 'retry', ask: true };
}

export function asksToLeaveSandbox(policy: ApprovalPolicy): boolean {
  if (policy === 'untrusted' || policy === 'on-failure') return true;
  return typeof policy === 'object' && policy.granular.sandbox_approval;
}

function fail(why: string): Escalation {
  return { kind: 'fail', why };
}

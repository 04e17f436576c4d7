/**
 * One approval, from question to verdict: hook, then cache, then the person. The first answer wins, and the record says
 * whose it was.
 */
import type {
  Amendment,
  ApprovalRequest,
  Decision,
  Requirement,
  ReviewDecision,
  ThreadRecord,
  ToolView,
} from '../protocol/index.js';
import type { Asker, PermissionHook } from './asker.js';
import type { ApprovalCache } from './cache.js';
import { computeChoices } from './choices.js';

export interface ApprovalServices {
  readonly cache: ApprovalCache;
  /** Nobody is there to ask when absent: the call is refused, and says so. */
  readonly asker?: Asker;
  readonly hook?: PermissionHook;
  /** Keeps a learned rule. */
  learn?(amendment: Amendment): Promise<void>;
}

export interface ApprovalQuestion {
  readonly approvalId: string;
  readonly turnId: string;
  readonly callId: string;
  readonly view: ToolView;
  readonly requirement: Extract<Requirement, { kind: 'needsApproval' }>;
  readonly attempt: 1 | 2;
  readonly cacheKeys: readonly string[];
  readonly fingerprint: string;
  record(record: ThreadRecord): Promise<void>;
}

export type Verdict =
  | { readonly kind: 'go'; readonly decision: Decision }
  | {
      readonly kind: 'rejected';
      readonly by: 'policy' | 'hook' | 'guardian' | 'user';
      readonly reason: string;
      readonly decision: Decision;
    }
  /** The question did not reach anybody who could answer. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** The person cancelled: this call is refused and the turn ends. */
  | { readonly kind: 'cancelled' };

export async function decideApproval(
  question: ApprovalQuestion,
  services: ApprovalServices,
  signal: AbortSignal,
): Promise<Verdict> {
  const request: ApprovalRequest = {
    approvalId: question.approvalId,
    turnId: question.turnId,
    callId: question.callId,
    view: question.view,
    attempt: question.attempt,
    choices: computeChoices(question.requirement, {
      attempt: question.attempt,
      cacheable: question.cacheKeys.length > 0,
    }),
    ...(question.requirement.reason ? { reason: question.requirement.reason } : {}),
  };
  const hooked = await services.hook?.decide(request, signal);
  if (hooked) return hookVerdict(hooked, question);
  const mayUseCache = question.attempt === 1 && !question.requirement.once;
  if (mayUseCache && services.cache.has(question.fingerprint, question.cacheKeys))
    return { kind: 'go', decision: { by: 'cache', reason: 'approved earlier in this session' } };
  if (!services.asker) return nobodyToAsk(question);
  // The waiter is registered inside `ask` before the question is recorded there, so no answer can come too early.
  const decision = await services.asker.ask(request, signal);
  return userVerdict(decision, question, services);
}

function hookVerdict(answer: { allow: boolean; reason?: string }, question: ApprovalQuestion): Verdict {
  const decision: Decision = { by: 'hook', ...(answer.reason ? { reason: answer.reason } : {}) };
  // Codex: an allow counts for first questions only; before a run outside the sandbox a hook can only deny.
  if (answer.allow && question.attempt === 1 && !question.requirement.once) return { kind: 'go', decision };
  return { kind: 'rejected', by: 'hook', reason: answer.reason ?? 'rejected by a permission hook', decision };
}

function nobodyToAsk(question: ApprovalQuestion): Verdict {
  const why = question.requirement.reason ? ` (${question.requirement.reason})` : '';
  const reason = `this needs approval${why}, and nobody is attached who could give it`;
  return {
    kind: 'rejected',
    by: 'policy',
    reason,
    decision: { by: 'policy', reason, ...ruleOf(question.requirement) },
  };
}

async function userVerdict(
  answer: ReviewDecision,
  question: ApprovalQuestion,
  services: ApprovalServices,
): Promise<Verdict> {
  const decision: Decision = { by: 'user', ...ruleOf(question.requirement) };
  switch (answer.type) {
    case 'accept':
      return { kind: 'go', decision };
    case 'acceptForSession':
      services.cache.remember(question.fingerprint, question.cacheKeys);
      return { kind: 'go', decision };
    case 'acceptWithAmendment':
      await services.learn?.(answer.amendment);
      await question.record({ type: 'amendment.learned', amendment: answer.amendment });
      return { kind: 'go', decision };
    case 'decline':
      return { kind: 'rejected', by: 'user', reason: answer.reason ?? 'rejected by user', decision };
    case 'failed':
      return { kind: 'failed', reason: answer.reason };
    case 'timedOut':
      return {
        kind: 'rejected',
        by: 'user',
        reason: 'nobody answered in time',
        decision: { by: 'default', reason: 'timed out' },
      };
    case 'cancel':
      return { kind: 'cancelled' };
  }
}

function ruleOf(requirement: { rule?: string }): { rule?: string } {
  return requirement.rule ? { rule: requirement.rule } : {};
}

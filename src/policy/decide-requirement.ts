/**
 * What policy says about one command, before anyone is asked. Pure: the same input gives the same answer, nothing is
 * read, nobody is asked.
 *
 *   argv ─lower─▶ segments ─rules─▶ hits ─┬─ forbidden ───────────────▶ forbidden
 *                    │                    ├─ prompt ──────────────────▶ needsApproval, or forbidden where asking is off
 *                    │                    └─ allow on every segment ──▶ skip, outside the sandbox
 *                    └─ no rule spoke ─▶ heuristics (danger, policy, sandbox, escalation)
 */
import type { Amendment, ApprovalPolicy, Requirement, SandboxPolicy } from '../protocol/index.js';
import { type Judged, judgeSegments } from './judge-segments.js';
import { lowerCommand } from './lower/lower-command.js';
import type { Lowered } from './lower/segment.js';
import type { MatchFacts, RuleHit } from './match-segment.js';
import type { Policy } from './policy.js';
import { fallbackAmendment, fittingPrefix } from './propose-amendment.js';
import { forbiddenReason, promptReason, quoteCommand } from './reasons.js';
import { ruleName } from './rules/rule.js';
import type { SafetyFacts } from './safe-commands.js';

export interface PolicyInput {
  readonly policy: Policy;
  readonly argv: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  readonly approvalPolicy: ApprovalPolicy;
  readonly sandbox: SandboxPolicy;
  /** The model asks to leave the sandbox, or for more permissions inside it. */
  readonly escalationRequested?: boolean;
  readonly justification?: string;
  /** The prefix the model would like to have remembered. */
  readonly prefixRule?: readonly string[];
  /** Run the read-only list without a question under `untrusted`; default true. */
  readonly knownSafeCommands?: boolean;
  /** `allow` rules on every segment free a command of the sandbox; default true. */
  readonly allowRulesBypassSandbox?: boolean;
  readonly facts?: Omit<MatchFacts, 'cwd'> & SafetyFacts & { readonly tmpdir?: string };
}

/** Why the answer is what it is. */
export interface Explanation {
  readonly lowered: Lowered;
  readonly segments: readonly Judged[];
  /** Rules that match the shell command itself, for a script that is not plain. */
  readonly wrapper: readonly RuleHit[];
  /** One sentence per circumstance that moved the answer, in the order they were weighed. */
  readonly because: readonly string[];
}

export type PolicyAnswer = Requirement & { readonly explanation: Explanation };

export function decideRequirement(input: PolicyInput): PolicyAnswer {
  const lowered = lowerCommand(input.argv, { cwd: input.cwd });
  return decideLowered(input, lowered);
}

/** The rule a person could keep when approving this command, if one would take effect. */
export function proposeAmendment(input: PolicyInput): Amendment | undefined {
  const answer = decideRequirement(input);
  return answer.kind === 'forbidden' ? undefined : answer.proposed;
}

/** The same for a command that is lowered already. */
export function decideLowered(input: PolicyInput, lowered: Lowered): PolicyAnswer {
  const gate = gateEscalation(input);
  const judged = judgeSegments(input, lowered);
  const explain = (because: readonly string[]): Explanation => ({
    lowered,
    segments: judged.segments,
    wrapper: judged.wrapper,
    because,
  });
  if (gate) return { kind: 'forbidden', reason: gate, explanation: explain([gate]) };
  const { requirement, because } = combine(input, lowered, judged);
  return { ...requirement, explanation: explain(because) };
}

/** Codex 0.171: where nobody may be asked, asking for more permissions ends the call before any rule is read. */
function gateEscalation({ approvalPolicy, escalationRequested }: PolicyInput): string | undefined {
  if (!escalationRequested) return undefined;
  const closed =
    approvalPolicy === 'never' || (typeof approvalPolicy === 'object' && !approvalPolicy.granular.sandbox_approval);
  if (!closed) return undefined;
  const name = policyName(approvalPolicy);
  return `approval policy is ${name}; reject command — you cannot ask for escalated permissions if the approval policy is ${name}`;
}

/** The words Codex 0.171 uses for the policies in its refusals. */
function policyName(policy: ApprovalPolicy): string {
  if (typeof policy === 'object') {
    const { sandbox_approval, rules } = policy.granular;
    return `Granular (sandbox_approval: ${sandbox_approval}, rules: ${rules})`;
  }
  return { never: 'Never', untrusted: 'UnlessTrusted', 'on-request': 'OnRequest', 'on-failure': 'OnFailure' }[policy];
}

interface Combined {
  readonly requirement: Requirement;
  readonly because: readonly string[];
}

type JudgedCommand = ReturnType<typeof judgeSegments>;

function combine(input: PolicyInput, lowered: Lowered, judged: JudgedCommand): Combined {
  const { hits } = judged;
  const forbidden = speaking(hits, 'forbidden');
  if (forbidden) {
    const reason = forbiddenReason(lowered.argv, forbidden);
    return { requirement: { kind: 'forbidden', reason, rule: ruleName(forbidden.rule.origin) }, because: [reason] };
  }
  const prompt = speaking(hits, 'prompt');
  const questions = judged.questions;
  const refused = refuseQuestion(input.approvalPolicy, lowered, prompt, judged);
  if (refused) return { requirement: refused, because: [refused.reason] };
  if (prompt)
    return { requirement: ask(input, lowered, judged, prompt), because: [promptReason(lowered.argv, prompt)] };
  if (questions.length > 0) {
    return { requirement: ask(input, lowered, judged, undefined), because: questions.map((question) => question.why) };
  }
  return skip(input, lowered, judged);
}

/** The rule whose words a reason uses: of this decision, the longest prefix, the later one on a tie (Codex 0.171). */
function speaking(hits: readonly RuleHit[], decision: 'prompt' | 'forbidden'): RuleHit | undefined {
  let best: RuleHit | undefined;
  for (const hit of hits) {
    // A rule that only may match asks; it cannot forbid what it was not shown to fit.
    const says = hit.how === 'possible' && hit.rule.decision === 'forbidden' ? 'prompt' : hit.rule.decision;
    if (says === decision && hit.void === undefined && (!best || hit.prefix.length >= best.prefix.length)) best = hit;
  }
  return best;
}

/** A question that the approval policy does not let anyone ask is a refusal. */
function refuseQuestion(
  policy: ApprovalPolicy,
  lowered: Lowered,
  prompt: RuleHit | undefined,
  judged: JudgedCommand,
): (Requirement & { kind: 'forbidden' }) | undefined {
  const rule = prompt && { rule: ruleName(prompt.rule.origin) };
  if (policy === 'never') {
    const danger = judged.questions.find((question) => question.kind === 'danger');
    const { forcedOrWorse } = judged;
    if (danger && forcedOrWorse)
      return { kind: 'forbidden', reason: `\`${quoteCommand(lowered.argv)}\` rejected: ${forcedOrWorse}` };
    if (prompt) {
      const what = ` (${[prompt.rule.justification, ruleName(prompt.rule.origin)].filter(Boolean).join('; ')})`;
      return {
        kind: 'forbidden',
        reason: `approval required by policy, but AskForApproval is set to Never${what}`,
        ...rule!,
      };
    }
    const [first] = judged.questions;
    return (
      first && {
        kind: 'forbidden',
        reason: `\`${quoteCommand(lowered.argv)}\` rejected: ${first.why}, and nobody may be asked`,
      }
    );
  }
  if (typeof policy !== 'object' || !prompt || policy.granular.rules) return undefined;
  return {
    kind: 'forbidden',
    reason: `approval required by policy rule, but AskForApproval::Granular.rules is false (${ruleName(prompt.rule.origin)})`,
    ...rule!,
  };
}

function ask(input: PolicyInput, lowered: Lowered, judged: JudgedCommand, prompt: RuleHit | undefined): Requirement {
  const { approvalPolicy } = input;
  // Codex 0.171: with sandbox approvals off, a question that is no rule's is asked once and cannot be remembered.
  const once = !prompt && typeof approvalPolicy === 'object' && !approvalPolicy.granular.sandbox_approval;
  const proposed = prompt || once ? undefined : proposal(input, lowered, judged);
  const reason = prompt ? promptReason(lowered.argv, prompt) : ownReason(input, judged);
  return {
    kind: 'needsApproval',
    ...(reason === undefined ? {} : { reason }),
    ...(once ? { once } : {}),
    ...(proposed ? { proposed } : {}),
    ...(prompt ? { rule: ruleName(prompt.rule.origin) } : {}),
  };
}

/** The model's own words, then what a person should know beside them. */
function ownReason(input: PolicyInput, judged: JudgedCommand): string | undefined {
  const own = input.escalationRequested ? input.justification : undefined;
  const notes = judged.questions.filter((question) => question.told).map((question) => question.why);
  const text = [...(own === undefined || own === '' ? [] : [own]), ...new Set(notes)].join('; ');
  return text === '' ? undefined : text;
}

function proposal(input: PolicyInput, lowered: Lowered, judged: JudgedCommand): Amendment | undefined {
  const wanted = input.prefixRule && fittingPrefix(input.prefixRule, input, lowered, judged);
  const prefix = wanted ?? fallbackAmendment(input, lowered, judged);
  return prefix && { prefix };
}

function skip(input: PolicyInput, lowered: Lowered, judged: JudgedCommand): Combined {
  const bypass = judged.allGranted && (input.allowRulesBypassSandbox ?? true);
  const allow = judged.hits.find((hit) => hit.rule.decision === 'allow' && hit.void === undefined);
  const proposed = judged.hits.length === 0 ? fallbackAmendment(input, lowered, judged) : undefined;
  const requirement: Requirement = {
    kind: 'skip',
    bypassSandbox: bypass,
    ...(proposed ? { proposed: { prefix: proposed } } : {}),
    ...(allow && bypass ? { rule: ruleName(allow.rule.origin) } : {}),
  };
  return { requirement, because: [bypass ? 'an allow rule covers every command' : 'nothing asks or forbids'] };
}

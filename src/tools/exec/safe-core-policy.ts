/** The least any host should decide by: no escalation where nobody may be asked, and no `rm -f` unasked. */
import { type ApprovalPolicy, assertNever, type Requirement } from '../../protocol/index.js';
import { splitPlainScript } from './plain-script.js';
import type { CommandPolicy, CommandQuestion } from './policy-port.js';

/** Used when the host names no policy of its own. It knows no rule files. */
export const safeCoreCommandPolicy: CommandPolicy = { decide: decideSafeCore };

function decideSafeCore(question: CommandQuestion): Requirement {
  const policy = question.settings.approvalPolicy;
  if (question.escalationRequested) return decideEscalationRequest(policy, question.justification);
  if (isForcedRemoval(question.script)) return decideDangerous(policy);
  if (policy === 'untrusted') return { kind: 'needsApproval' };
  return { kind: 'skip', bypassSandbox: false };
}

function decideEscalationRequest(policy: ApprovalPolicy, justification: string | undefined): Requirement {
  const may = policy === 'on-request' || (typeof policy === 'object' && policy.granular.sandbox_approval);
  if (may) return { kind: 'needsApproval', ...(justification === undefined ? {} : { reason: justification }) };
  const name = policyName(policy);
  const reason = `approval policy is ${name}; reject command — you cannot ask for escalated permissions if the approval policy is ${name}`;
  return { kind: 'forbidden', reason };
}

/** Codex 0.171: `never` refuses, every other policy asks; granular without sandbox approvals asks for this once. */
function decideDangerous(policy: ApprovalPolicy): Requirement {
  const rule = 'built-in: forced removal';
  if (policy === 'never')
    return { kind: 'forbidden', reason: 'rm -f style commands are not permitted. Use a safer approach', rule };
  const once = typeof policy === 'object' && !policy.granular.sandbox_approval;
  return { kind: 'needsApproval', rule, ...(once ? { once: true as const } : {}) };
}

/** `rm -f …` in any spelling of the flag, also behind `sudo`, in a script of plain commands. */
function isForcedRemoval(script: string): boolean {
  return (splitPlainScript(script) ?? []).some((words) => {
    const [program, ...args] = words[0] === 'sudo' ? words.slice(1) : words;
    if (program !== 'rm' && !program?.endsWith('/rm')) return false;
    return args.some((arg) => arg === '--force' || /^-[A-Za-z]*f[A-Za-z]*$/.test(arg));
  });
}

/** The words Codex 0.171 uses for the policies in its refusals. */
function policyName(policy: ApprovalPolicy): string {
  if (typeof policy === 'object') return 'Granular';
  switch (policy) {
    case 'never':
      return 'Never';
    case 'untrusted':
      return 'UnlessTrusted';
    case 'on-failure':
      return 'OnFailure';
    case 'on-request':
      return 'OnRequest';
    default:
      return assertNever(policy);
  }
}

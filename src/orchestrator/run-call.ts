/**
 * The orchestrator: requirement → approval → first attempt → escalation. At most two questions per call.
 * It turns every refusal into an outcome that says who refused and by which rule.
 */
import { type ApprovalServices, decideApproval, type Verdict } from '../approvals/index.js';
import type { Ids } from '../lib/index.js';
import type { Decision, Requirement, SandboxPolicy, ToolOutcome, ToolView } from '../protocol/index.js';
import type { SandboxBackend } from '../sandbox/index.js';
import { decideEscalation } from './decide-escalation.js';
import type { CallContext, SandboxDenial, Tool } from './tool.js';

export interface OrchestratorServices {
  readonly backend: SandboxBackend;
  readonly approvals: ApprovalServices;
  readonly ids: Ids;
  /** Ends the turn because the person cancelled. */
  cancelTurn(): void;
}

/** A parsed call on its way through the orchestrator. */
interface Call<Args> {
  readonly tool: Tool<Args>;
  readonly args: Args;
  readonly view: ToolView;
  readonly context: CallContext;
  readonly services: OrchestratorServices;
  readonly signal: AbortSignal;
}

type NeedsApproval = Extract<Requirement, { kind: 'needsApproval' }>;

type Permit =
  | { readonly kind: 'go'; readonly decision: Decision; readonly unsandboxed: boolean }
  | { readonly kind: 'no'; readonly outcome: ToolOutcome };

export async function runCall<Args>(
  tool: Tool<Args>,
  args: Args,
  context: CallContext,
  services: OrchestratorServices,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const requirement = (await tool.requirement?.(args, context)) ?? { kind: 'skip', bypassSandbox: false };
  // After the judgement: what loads for it (the shell parser) also serves the view.
  const call: Call<Args> = { tool, args, view: tool.view(args, context), context, services, signal };
  const permit = await obtainPermit(call, requirement);
  if (permit.kind === 'no') return permit.outcome;
  const { sandbox } = context.settings;
  const first = await attempt(call, 1, permit.unsandboxed ? unsandboxed(sandbox) : sandbox, permit.decision);
  return first.kind === 'sandboxDenied' ? escalate(call, first) : first;
}

async function obtainPermit<Args>(call: Call<Args>, requirement: Requirement): Promise<Permit> {
  const rule = requirement.rule ? { rule: requirement.rule } : {};
  switch (requirement.kind) {
    case 'skip':
      return { kind: 'go', decision: { by: 'policy', ...rule }, unsandboxed: requirement.bypassSandbox };
    case 'forbidden': {
      const decision: Decision = { by: 'policy', reason: requirement.reason, ...rule };
      return { kind: 'no', outcome: rejected(call, 'policy', requirement.reason, decision) };
    }
    case 'needsApproval': {
      const verdict = await ask(call, 1, requirement, call.tool.cacheKeys?.(call.args, call.context) ?? []);
      if (verdict.kind !== 'go') return { kind: 'no', outcome: refusal(call, verdict) };
      return { kind: 'go', decision: verdict.decision, unsandboxed: call.tool.wantsEscalation?.(call.args) ?? false };
    }
  }
}

function ask<Args>(
  call: Call<Args>,
  attempt: 1 | 2,
  requirement: NeedsApproval,
  cacheKeys: readonly string[],
): Promise<Verdict> {
  const { context, services } = call;
  const question = {
    approvalId: services.ids.next('approval'),
    turnId: context.turnId,
    callId: context.callId,
    view: call.view,
    requirement,
    attempt,
    cacheKeys,
    fingerprint: context.settings.policyFingerprint,
    record: context.record,
  };
  return decideApproval(question, services.approvals, call.signal);
}

async function attempt<Args>(
  call: Call<Args>,
  number: 1 | 2,
  sandbox: SandboxPolicy,
  decision: Decision,
): Promise<ToolOutcome | SandboxDenial> {
  const { tool, args, view, context, services, signal } = call;
  signal.throwIfAborted();
  const confined = sandbox.mode !== 'danger-full-access' && sandbox.mode !== 'external';
  // Recorded before the effect: after a crash this call is never run again.
  await context.record({
    type: 'tool.started',
    callId: context.callId,
    attempt: number,
    sandbox: confined ? services.backend.name : 'none',
    view,
    decision,
  });
  return tool.run(args, { number, sandbox, backend: services.backend }, context, signal);
}

async function escalate<Args>(call: Call<Args>, denied: SandboxDenial): Promise<ToolOutcome> {
  const { settings } = call.context;
  const escalation = decideEscalation({
    denial: denied.denial,
    escalateOnFailure: call.tool.escalation.escalateOnFailure,
    approvalPolicy: settings.approvalPolicy,
    unsandboxedAllowed: settings.sandbox.denyRead.length === 0,
  });
  if (escalation.kind === 'fail' || !call.services.approvals.asker) return denied.outcome;
  const evidence = denied.denial.evidence ? ` The sandbox stopped it: ${denied.denial.evidence}` : '';
  const requirement: NeedsApproval = {
    kind: 'needsApproval',
    once: true,
    reason: `command failed; retry without sandbox?${evidence}`,
  };
  const verdict = await ask(call, 2, requirement, []);
  if (verdict.kind === 'cancelled') return refusal(call, verdict);
  if (verdict.kind !== 'go') return denied.outcome;
  const second = await attempt(call, 2, unsandboxed(settings.sandbox), verdict.decision);
  return second.kind === 'sandboxDenied' ? second.outcome : second;
}

function unsandboxed(policy: SandboxPolicy): SandboxPolicy {
  return { ...policy, mode: 'danger-full-access', network: { kind: 'full' } };
}

function refusal<Args>(call: Call<Args>, verdict: Exclude<Verdict, { kind: 'go' }>): ToolOutcome {
  if (verdict.kind === 'failed') return { kind: 'failed', text: `${call.tool.spec.name} failed: ${verdict.reason}` };
  if (verdict.kind === 'rejected') return rejected(call, verdict.by, verdict.reason, verdict.decision);
  call.services.cancelTurn();
  return rejected(call, 'user', 'rejected by user; the turn was ended', { by: 'user', reason: 'cancelled' });
}

/** The model reads one plain sentence: the tool, that it was rejected, and why. Patches keep their recorded first words. */
function rejected<Args>(
  call: Call<Args>,
  by: 'policy' | 'hook' | 'guardian' | 'user',
  reason: string,
  decision: Decision,
): ToolOutcome {
  const subject = call.tool.spec.name === 'apply_patch' ? 'patch' : call.tool.spec.name;
  return { kind: 'rejected', by, text: `${subject} rejected: ${reason}`, decision };
}

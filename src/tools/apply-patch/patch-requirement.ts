/**
 * What policy says about a patch. Pure: every path is canonical (links followed as far as they exist), so a link inside
 * a writable root cannot lead out of it.
 */
import type { ApprovalPolicy, Requirement, SandboxPolicy } from '../../protocol/index.js';

export interface PatchPolicyFacts {
  readonly approvalPolicy: ApprovalPolicy;
  readonly sandbox: SandboxPolicy;
  /** Canonical writable roots, temporary directories included. */
  readonly roots: readonly string[];
  /** Canonical paths inside the roots that stay read-only. */
  readonly readOnly: readonly string[];
}

/** Nothing may be planted there: other programs run or obey what these hold. At any depth, in any case of letters. */
const PROTECTED_NAMES: ReadonlySet<string> = new Set(['.git', '.codex', '.agents', '.turnwright']);

/**
 * Codex 0.171: inside the writable roots a patch runs unasked; outside it asks, or is refused where the policy does not
 * let it ask; `untrusted` always asks.
 * @param targets canonical paths of everything the patch writes or removes.
 */
export function decidePatchRequirement(targets: readonly string[], facts: PatchPolicyFacts): Requirement {
  const { approvalPolicy, sandbox } = facts;
  const closed = sandbox.mode === 'read-only' || sandbox.mode === 'workspace-write';
  const outside = closed ? targets.filter((path) => !isWritable(path, facts)) : [];
  if (outside.length === 0) {
    return approvalPolicy === 'untrusted' ? { kind: 'needsApproval' } : { kind: 'skip', bypassSandbox: false };
  }
  if (!mayAsk(approvalPolicy)) return { kind: 'forbidden', reason: refusal(sandbox) };
  const more = outside.length > 1 ? ` and ${outside.length - 1} more` : '';
  const place = sandbox.mode === 'read-only' ? 'the sandbox is read-only' : 'outside of the writable roots';
  return { kind: 'needsApproval', reason: `writes ${outside[0]}${more}: ${place}` };
}

function isWritable(path: string, { roots, readOnly }: PatchPolicyFacts): boolean {
  if (readOnly.some((closed) => isWithin(path, closed))) return false;
  return roots.some((root) => isWithin(path, root) && path !== root && !isProtected(path.slice(root.length)));
}

function isProtected(below: string): boolean {
  return below.split('/').some((name) => PROTECTED_NAMES.has(name.normalize('NFC').toLowerCase()));
}

function isWithin(path: string, ancestor: string): boolean {
  return path === ancestor || path.startsWith(ancestor.endsWith('/') ? ancestor : `${ancestor}/`);
}

function mayAsk(policy: ApprovalPolicy): boolean {
  if (typeof policy === 'object') return policy.granular.sandbox_approval;
  return policy !== 'never';
}

function refusal(sandbox: SandboxPolicy): string {
  const what =
    sandbox.mode === 'read-only' ? 'writing is blocked by read-only sandbox' : 'writing outside of the project';
  return `${what}; rejected by user approval settings`;
}

/** Tells the model what the sandbox and the approval policy allow, so that it does not have to find out by failing. */
import type { ApprovalPolicy, SandboxPolicy } from '../protocol/index.js';

export function permissionsText(sandbox: SandboxPolicy, approval: ApprovalPolicy): string {
  return `<permissions instructions>\n${sandboxText(sandbox)}\n${approvalText(approval)}\n</permissions instructions>`;
}

function sandboxText(sandbox: SandboxPolicy): string {
  const network =
    sandbox.network.kind === 'off'
      ? 'The network is off.'
      : sandbox.network.kind === 'full'
        ? 'The network is on.'
        : 'Only listed hosts can be reached, through a proxy.';
  switch (sandbox.mode) {
    case 'danger-full-access':
      return 'Commands run without a sandbox: they can write anywhere and use the network. Be careful.';
    case 'external':
      return 'Commands run inside a sandbox that somebody else set up; turnwright adds none.';
    case 'read-only':
      return `Sandbox: read-only. Commands can read files; nothing can be written. ${network}`;
    case 'workspace-write':
      return `Sandbox: workspace-write. Commands can read files and write below ${sandbox.writableRoots.join(', ')}. Version-control metadata there is read-only. ${network}`;
  }
}

function approvalText(policy: ApprovalPolicy): string {
  if (typeof policy === 'object')
    return 'Approvals: some kinds of question may be put to the user; the others are refused at once.';
  switch (policy) {
    case 'never':
      return 'Approvals: never. Nobody can be asked; what is not allowed is refused. Do not request escalated permissions.';
    case 'on-request':
    case 'on-failure':
      return 'Approvals: on request. If a command must leave the sandbox, call it with sandbox_permissions "require_escalated" and a one-sentence justification; the user decides.';
    case 'untrusted':
      return 'Approvals: untrusted. The user is asked before commands that are not known to be safe.';
  }
}

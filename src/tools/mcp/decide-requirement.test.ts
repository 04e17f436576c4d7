import { expect, test } from 'vitest';
import type { ApprovalPolicy, SandboxMode } from '../../protocol/index.js';
import { decideMcpRequirement } from './decide-requirement.js';
import type { McpApprovalMode } from './read-servers.js';

const granular = (mcp_elicitations: boolean): ApprovalPolicy => ({
  granular: {
    sandbox_approval: !mcp_elicitations,
    rules: !mcp_elicitations,
    mcp_elicitations,
    request_permissions: !mcp_elicitations,
    skill_approval: !mcp_elicitations,
  },
});
const reads = { readOnlyHint: true };
const both = { readOnlyHint: true, destructiveHint: true };
const destroys = { readOnlyHint: false, destructiveHint: true };
const full = 'danger-full-access';

test.each<[McpApprovalMode, object, ApprovalPolicy, SandboxMode, string]>([
  ['auto', reads, 'never', 'read-only', 'skip'],
  ['auto', reads, 'untrusted', 'read-only', 'skip'],
  ['auto', both, 'never', 'read-only', 'forbidden'],
  ['auto', {}, 'on-request', 'workspace-write', 'needsApproval'],
  ['auto', destroys, 'on-request', full, 'needsApproval'],
  ['auto', {}, 'never', 'workspace-write', 'forbidden'],
  ['auto', destroys, 'never', full, 'skip'],
  ['auto', {}, 'never', full, 'skip'],
  ['auto', {}, 'never', 'external', 'forbidden'],
  ['auto', {}, granular(true), 'workspace-write', 'needsApproval'],
  ['auto', {}, granular(false), 'workspace-write', 'forbidden'],
  ['approve', destroys, 'never', 'read-only', 'skip'],
  ['approve', destroys, 'untrusted', 'read-only', 'skip'],
  ['prompt', reads, 'on-request', full, 'needsApproval'],
  ['prompt', reads, 'never', full, 'forbidden'],
])('%s, hints %j, policy %j, %s → %s', (mode, hints, approvalPolicy, sandboxMode, expected) => {
  const facts = { server: 's', tool: 't', mode, hints, approvalPolicy, sandboxMode };
  expect(decideMcpRequirement(facts).kind).toBe(expected);
});

test('a refusal names the policy and the way out, never a person', () => {
  const facts = { server: 'db', tool: 'wipe', mode: 'auto', hints: destroys, approvalPolicy: 'never' } as const;
  const requirement = decideMcpRequirement({ ...facts, sandboxMode: 'read-only' });
  expect(requirement).toMatchObject({
    kind: 'forbidden',
    reason: expect.stringMatching(/^needs approval, none available: .*mcp_servers\.db\.tools\.wipe\.approval_mode/),
  });
  expect(JSON.stringify(requirement)).not.toMatch(/cancel/);
});

test('an answer to `prompt` counts once, any other may be remembered', () => {
  const facts = { server: 's', tool: 't', hints: {}, approvalPolicy: 'on-request', sandboxMode: 'read-only' } as const;
  expect(decideMcpRequirement({ ...facts, mode: 'prompt' })).toMatchObject({ once: true });
  expect(decideMcpRequirement({ ...facts, mode: 'auto' })).not.toHaveProperty('once');
});

import { expect, test } from 'vitest';
import type { ApprovalPolicy, SandboxMode, SandboxPolicy } from '../../protocol/index.js';
import { decidePatchRequirement } from './patch-requirement.js';

const granular = (sandbox_approval: boolean): ApprovalPolicy => ({
  granular: { sandbox_approval, rules: true, mcp_elicitations: true, request_permissions: true, skill_approval: true },
});

const OUTSIDE = 'writing outside of the project; rejected by user approval settings';
const READ_ONLY = 'writing is blocked by read-only sandbox; rejected by user approval settings';

const rows: [string, SandboxMode, ApprovalPolicy, string[], string][] = [
  ['inside runs unasked', 'workspace-write', 'on-request', ['/w/a', '/w/b/c'], 'skip'],
  ['inside runs unasked when nobody may be asked', 'workspace-write', 'never', ['/w/a'], 'skip'],
  ['a second root counts', 'workspace-write', 'never', ['/tmp/x'], 'skip'],
  ['untrusted always asks', 'workspace-write', 'untrusted', ['/w/a'], 'needsApproval'],
  ['untrusted asks with full access too', 'danger-full-access', 'untrusted', ['/etc/x'], 'needsApproval'],
  ['one path outside makes the patch ask', 'workspace-write', 'on-request', ['/w/a', '/usr/x'], 'needsApproval'],
  ['on-failure asks', 'workspace-write', 'on-failure', ['/usr/x'], 'needsApproval'],
  ['a name that only begins like a root is outside', 'workspace-write', 'never', ['/w2/a'], OUTSIDE],
  ['the root itself is no file to write', 'workspace-write', 'never', ['/w'], OUTSIDE],
  ['never refuses', 'workspace-write', 'never', ['/usr/x'], OUTSIDE],
  ['granular may ask', 'workspace-write', granular(true), ['/usr/x'], 'needsApproval'],
  ['granular without sandbox questions refuses', 'workspace-write', granular(false), ['/usr/x'], OUTSIDE],
  ['read-only asks', 'read-only', 'on-request', ['/w/a'], 'needsApproval'],
  ['read-only and never refuses', 'read-only', 'never', ['/w/a'], READ_ONLY],
  ['full access runs', 'danger-full-access', 'never', ['/etc/x'], 'skip'],
  ['an outer sandbox decides for itself', 'external', 'on-request', ['/etc/x'], 'skip'],
  ['git data is protected', 'workspace-write', 'never', ['/w/.git/config'], OUTSIDE],
  ['in nested repositories too', 'workspace-write', 'never', ['/w/lib/.git/hooks/pre-commit'], OUTSIDE],
  ['in any case of letters', 'workspace-write', 'never', ['/w/.Git/config'], OUTSIDE],
  [
    'our own and the ecosystem\u2019s config is protected',
    'workspace-write',
    'on-request',
    ['/w/.codex/config.toml'],
    'needsApproval',
  ],
  ['agent instructions are protected', 'workspace-write', 'never', ['/w/.agents/x'], OUTSIDE],
  ['similar names are not', 'workspace-write', 'never', ['/w/.github/x', '/w/.gitignore'], 'skip'],
  [
    'a root inside a protected directory was chosen on purpose',
    'workspace-write',
    'never',
    ['/h/.codex/memories/x'],
    'skip',
  ],
  ['read-only places inside a root', 'workspace-write', 'never', ['/w/vendor/x'], OUTSIDE],
];

test.each(rows)('%s', (_, mode, approvalPolicy, targets, expected) => {
  const sandbox: SandboxPolicy = {
    mode,
    writableRoots: [],
    excludeSlashTmp: false,
    excludeTmpdirEnvVar: false,
    readOnly: [],
    denyRead: [],
    git: 'read-only',
    network: { kind: 'off' },
    unixSockets: 'deny',
    landlockFallback: false,
  };
  const roots = mode === 'workspace-write' ? ['/w', '/tmp', '/h/.codex/memories'] : [];
  const found = decidePatchRequirement(targets, { approvalPolicy, sandbox, roots, readOnly: ['/w/vendor'] });
  expect(found.kind === 'forbidden' ? found.reason : found.kind).toBe(expected);
});

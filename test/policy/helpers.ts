import {
  createPolicy,
  decideRequirement,
  type Policy,
  type PolicyAnswer,
  type PolicyInput,
  parseRules,
} from '../../src/policy/index.js';
import type { SandboxMode, SandboxPolicy } from '../../src/protocol/index.js';

export const CWD = '/srv/project';

export function rules(...texts: readonly string[]): Policy {
  return createPolicy(texts.map((text, i) => parseRules(text, { file: `${i}.rules` })));
}

export function sandbox(mode: SandboxMode = 'workspace-write'): SandboxPolicy {
  return {
    mode,
    writableRoots: mode === 'workspace-write' ? [CWD] : [],
    excludeSlashTmp: false,
    excludeTmpdirEnvVar: false,
    readOnly: [],
    denyRead: [],
    git: 'read-only',
    network: { kind: 'off' },
    unixSockets: 'deny',
    landlockFallback: false,
  };
}

export type Asked = Partial<Omit<PolicyInput, 'policy' | 'argv' | 'sandbox'>> & {
  readonly mode?: SandboxMode;
  readonly shell?: string;
};

/** What policy says about a script under bash, on-request and workspace-write unless told otherwise. */
export function ask(
  policy: Policy,
  script: string | readonly string[],
  { mode, shell = '/bin/bash', ...more }: Asked = {},
): PolicyAnswer {
  return decideRequirement({
    policy,
    argv: typeof script === 'string' ? [shell, '-lc', script] : script,
    cwd: CWD,
    approvalPolicy: 'on-request',
    sandbox: sandbox(mode),
    ...more,
  });
}

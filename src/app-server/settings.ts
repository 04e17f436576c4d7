/** Thread and turn overrides of the protocol, as configuration and turn settings. */
import type { ApprovalPolicy, SandboxPolicy, TurnSettings, UserInput } from '../protocol/index.js';
import { INVALID_REQUEST, type Params, RpcFailure } from './rpc.js';

/** `thread/start` and `thread/resume` overrides, in the words of `config.toml`. */
export function threadFlags(params: Params): Readonly<Record<string, unknown>> {
  const flags: Record<string, unknown> = {};
  const put = (key: string, value: unknown) => {
    if (value !== undefined && value !== null) flags[key] = value;
  };
  put('model', params['model']);
  put('model_provider', params['modelProvider']);
  put('approval_policy', params['approvalPolicy']);
  put('sandbox_mode', params['sandbox']);
  put('developer_instructions', params['developerInstructions']);
  return flags;
}

/** The `config` object of a request: dotted keys and nested tables alike, as `-c` overrides. */
export function configOverrides(config: unknown): readonly string[] {
  if (typeof config !== 'object' || config === null) return [];
  return Object.entries(config).map(([key, value]) => `${key}=${inlineToml(value)}`);
}

function inlineToml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inlineToml).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)} = ${inlineToml(inner)}`)
    .join(', ')} }`;
}

/** `turn/start` overrides. They stick for later turns. */
export function turnOverrides(params: Params, now: TurnSettings): Partial<TurnSettings> {
  const change: { -readonly [K in keyof TurnSettings]?: TurnSettings[K] } = {};
  if (typeof params['model'] === 'string') change.model = params['model'];
  if (typeof params['cwd'] === 'string') change.cwd = params['cwd'];
  if (typeof params['effort'] === 'string') change.reasoningEffort = params['effort'];
  if (typeof params['summary'] === 'string') change.reasoningSummary = params['summary'];
  if (params['outputSchema'] !== undefined && params['outputSchema'] !== null)
    change.outputSchema = params['outputSchema'];
  if (params['approvalPolicy'] !== undefined && params['approvalPolicy'] !== null)
    change.approvalPolicy = approvalPolicy(params['approvalPolicy']);
  if (params['sandboxPolicy'] !== undefined && params['sandboxPolicy'] !== null)
    change.sandbox = sandboxPolicy(params['sandboxPolicy'], now.sandbox);
  return change;
}

function approvalPolicy(value: unknown): ApprovalPolicy {
  if (value === 'untrusted' || value === 'on-request' || value === 'on-failure' || value === 'never') return value;
  if (typeof value === 'object' && value !== null && 'granular' in value) return value as ApprovalPolicy;
  throw new RpcFailure(INVALID_REQUEST, `unknown approvalPolicy ${JSON.stringify(value)}`);
}

const MODES = {
  dangerFullAccess: 'danger-full-access',
  readOnly: 'read-only',
  workspaceWrite: 'workspace-write',
  externalSandbox: 'external',
} as const;

function sandboxPolicy(value: unknown, now: SandboxPolicy): SandboxPolicy {
  const wire = value as {
    type?: unknown;
    writableRoots?: unknown;
    networkAccess?: unknown;
    excludeTmpdirEnvVar?: unknown;
    excludeSlashTmp?: unknown;
  };
  const mode = MODES[wire.type as keyof typeof MODES];
  if (!mode) throw new RpcFailure(INVALID_REQUEST, `unknown sandboxPolicy type ${JSON.stringify(wire.type)}`);
  const open = wire.networkAccess === true || wire.networkAccess === 'enabled' || mode === 'danger-full-access';
  const roots = Array.isArray(wire.writableRoots)
    ? wire.writableRoots.filter((root): root is string => typeof root === 'string')
    : [];
  return {
    ...now,
    mode,
    writableRoots: [...new Set([...now.writableRoots, ...roots])],
    network: { kind: open ? 'full' : 'off' },
    excludeSlashTmp: wire.excludeSlashTmp === true,
    excludeTmpdirEnvVar: wire.excludeTmpdirEnvVar === true,
  };
}

export function wireSandbox(policy: SandboxPolicy): unknown {
  const networkAccess = policy.network.kind !== 'off';
  switch (policy.mode) {
    case 'danger-full-access':
      return { type: 'dangerFullAccess' };
    case 'read-only':
      return { type: 'readOnly', networkAccess };
    case 'external':
      return { type: 'externalSandbox', networkAccess: networkAccess ? 'enabled' : 'restricted' };
    case 'workspace-write':
      return {
        type: 'workspaceWrite',
        writableRoots: policy.writableRoots,
        networkAccess,
        excludeTmpdirEnvVar: policy.excludeTmpdirEnvVar,
        excludeSlashTmp: policy.excludeSlashTmp,
      };
  }
}

export function readInput(value: unknown): readonly UserInput[] {
  if (!Array.isArray(value)) throw new RpcFailure(INVALID_REQUEST, 'input must be a list');
  return value.map((part: unknown): UserInput => {
    const input = part as { type?: unknown; text?: unknown; url?: unknown; path?: unknown };
    if (input?.type === 'text' && typeof input.text === 'string') return { type: 'text', text: input.text };
    if (input?.type === 'image' && typeof input.url === 'string') return { type: 'image', url: input.url };
    if (input?.type === 'localImage' && typeof input.path === 'string') return { type: 'localImage', path: input.path };
    throw new RpcFailure(INVALID_REQUEST, `unknown input ${JSON.stringify(part)}`);
  });
}

/** Thread and turn overrides of the protocol, as configuration and turn settings. */
import path from 'node:path';
import type { ClientContext } from '../engine/index.js';
import type { ApprovalPolicy, SandboxPolicy, TurnSettings, UserInput } from '../protocol/index.js';
import { invalid, isObject, optionalFlag, optionalList, optionalObject, optionalText, optionalWord } from './params.js';
import { INVALID_REQUEST, type Params, RpcFailure } from './rpc.js';

/** `thread/start` and `thread/resume` overrides, in the words of `config.toml`. */
export function threadFlags(params: Params): Readonly<Record<string, unknown>> {
  const flags: Record<string, unknown> = {};
  const put = (key: string, value: unknown) => {
    if (value !== undefined) flags[key] = value;
  };
  put('model', optionalText(params, 'model'));
  put('model_provider', optionalText(params, 'modelProvider'));
  put('approval_policy', approvalPolicy(params));
  put('sandbox_mode', optionalWord(params, 'sandbox', ['read-only', 'workspace-write', 'danger-full-access']));
  put('developer_instructions', optionalText(params, 'developerInstructions'));
  return flags;
}

/** The `config` object of a request: dotted keys and nested tables alike, as `-c` overrides. */
export function configOverrides(config: Params): readonly string[] {
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
  const model = optionalText(params, 'model');
  const cwd = absolutePath(params, 'cwd');
  const reasoningEffort = optionalText(params, 'effort');
  const reasoningSummary = optionalWord(params, 'summary', ['auto', 'concise', 'detailed', 'none']);
  const outputSchema = params['outputSchema'] ?? undefined;
  const policy = approvalPolicy(params);
  const sandbox = optionalObject(params, 'sandboxPolicy');
  return {
    ...(model === undefined ? {} : { model }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
    ...(reasoningSummary === undefined ? {} : { reasoningSummary }),
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(policy === undefined ? {} : { approvalPolicy: policy }),
    ...(sandbox === undefined ? {} : { sandbox: sandboxPolicy(sandbox, now.sandbox) }),
  };
}

export function absolutePath(params: Params, field: string): string | undefined {
  const value = optionalText(params, field);
  if (value !== undefined && !path.isAbsolute(value)) throw invalid(field, `${JSON.stringify(value)} is not absolute`);
  return value;
}

const POLICIES = ['untrusted', 'on-request', 'on-failure', 'never'] as const;

function approvalPolicy(params: Params): ApprovalPolicy | undefined {
  const value = params['approvalPolicy'];
  if (!isObject(value)) return optionalWord(params, 'approvalPolicy', POLICIES);
  const granular = value['granular'];
  if (!isObject(granular)) throw invalid('approvalPolicy', 'an object must be {granular: {…}}');
  const may = (key: string, required: boolean) => {
    const given = granular[key];
    if (typeof given === 'boolean') return given;
    if (given === undefined && !required) return false;
    throw invalid(`approvalPolicy.granular.${key}`, 'true or false is needed');
  };
  return {
    granular: {
      sandbox_approval: may('sandbox_approval', true),
      rules: may('rules', true),
      mcp_elicitations: may('mcp_elicitations', true),
      request_permissions: may('request_permissions', false),
      skill_approval: may('skill_approval', false),
    },
  };
}

const MODES = {
  dangerFullAccess: 'danger-full-access',
  readOnly: 'read-only',
  workspaceWrite: 'workspace-write',
  externalSandbox: 'external',
} as const;

function sandboxPolicy(wire: Params, now: SandboxPolicy): SandboxPolicy {
  const mode = MODES[wire['type'] as keyof typeof MODES];
  if (!mode) throw invalid('sandboxPolicy.type', `${JSON.stringify(wire['type'])} is not known`);
  const open = wire['networkAccess'] === true || wire['networkAccess'] === 'enabled' || mode === 'danger-full-access';
  return {
    ...now,
    mode,
    writableRoots: [...new Set([...now.writableRoots, ...writableRoots(wire)])],
    network: { kind: open ? 'full' : 'off' },
    excludeSlashTmp: optionalFlag(wire, 'excludeSlashTmp'),
    excludeTmpdirEnvVar: optionalFlag(wire, 'excludeTmpdirEnvVar'),
  };
}

function writableRoots(wire: Params): readonly string[] {
  return (optionalList(wire, 'writableRoots') ?? []).map((root) => {
    if (typeof root === 'string' && path.isAbsolute(root)) return root;
    throw invalid('sandboxPolicy.writableRoots', `${JSON.stringify(root)} is not an absolute path`);
  });
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

export function readInput(params: Params): readonly UserInput[] {
  const input = optionalList(params, 'input');
  if (!input) throw new RpcFailure(INVALID_REQUEST, 'missing field `input`', { field: 'input' });
  return input.map((part, at): UserInput => {
    const { type, text, url, path: file } = isObject(part) ? part : {};
    if (type === 'text' && typeof text === 'string') return { type: 'text', text };
    if (type === 'image' && typeof url === 'string') return { type: 'image', url };
    if (type === 'localImage' && typeof file === 'string') return { type: 'localImage', path: file };
    throw invalid(`input[${at}]`, `${JSON.stringify(part)?.slice(0, 100)} is no text, image or localImage`);
  });
}

/** `additionalContext`: what the client's surroundings say, by name. */
export function readContext(params: Params): readonly ClientContext[] {
  return Object.entries(optionalObject(params, 'additionalContext') ?? {}).map(([name, entry]) => {
    const { value, kind } = isObject(entry) ? entry : {};
    if (typeof value === 'string' && (kind === 'untrusted' || kind === 'application'))
      return { text: value, trusted: kind === 'application' };
    throw invalid(`additionalContext.${name}`, 'it needs a `value` and the `kind` untrusted or application');
  });
}

/** The typed view of a checked configuration table, with every default in one place. */
import type { ApprovalPolicy, Budget, SandboxMode, SteerDelivery } from '../protocol/index.js';
import type { Table } from './layers.js';
import { type ProviderSettings, readProviders } from './providers.js';
import { isTable } from './shape.js';

export interface Config {
  /** Undefined: the provider's default. */
  readonly model?: string;
  /** Undefined: nothing was chosen, so a key or a local server decides. */
  readonly modelProvider?: string;
  /** Configured providers by id, without the built-in ones. */
  readonly providers: ReadonlyMap<string, ProviderSettings>;
  readonly openaiBaseUrl?: string;
  /** The local server that `--oss` means. */
  readonly ossProvider?: string;
  readonly reasoningEffort?: string;
  readonly reasoningSummary?: string;
  readonly verbosity?: string;
  readonly contextWindow?: number;
  readonly autoCompactTokenLimit?: number;
  readonly toolOutputTokenLimit?: number;
  readonly compactPrompt?: string;
  /** Path as written. */
  readonly modelInstructionsFile?: string;
  readonly developerInstructions?: string;
  readonly instructions?: string;
  readonly approvalPolicy?: ApprovalPolicy;
  readonly approvalsReviewer: 'user' | 'auto_review';
  readonly reviewerPolicy?: string;
  readonly sandboxMode?: SandboxMode;
  readonly workspaceWrite: WorkspaceWriteSettings;
  readonly sandbox: SandboxExtras;
  readonly defaultPermissions?: string;
  /** `[permissions]`, as written. */
  readonly permissions: Table;
  /** Harmless commands run without a question under `untrusted`. */
  readonly knownSafeCommands: boolean;
  readonly shellEnvironment: ShellEnvironmentPolicy;
  readonly allowLoginShell: boolean;
  /** Longest wait of an empty poll of a background command, in milliseconds. */
  readonly backgroundTerminalMaxTimeoutMs: number;
  readonly steerDelivery: SteerDelivery;
  readonly budget: Budget;
  readonly projectDocMaxBytes: number;
  readonly projectDocFallbackFilenames: readonly string[];
  readonly projectRootMarkers: readonly string[];
  readonly webSearch: 'disabled' | 'cached' | 'live';
  readonly updatePlan: boolean;
  readonly viewImage: boolean;
  readonly features: Readonly<Record<string, boolean>>;
  readonly saveHistory: boolean;
  readonly durability: 'process' | 'power';
  /** Kept as written for the part that understands it. */
  readonly mcpServers: Table;
}

export interface WorkspaceWriteSettings {
  readonly writableRoots: readonly string[];
  readonly networkAccess: boolean;
  readonly excludeTmpdirEnvVar: boolean;
  readonly excludeSlashTmp: boolean;
}

export interface SandboxExtras {
  readonly readOnly: readonly string[];
  readonly denyRead: readonly string[];
  readonly git: 'read-only' | 'commit';
  readonly unixSockets?: 'deny' | 'private' | 'allow';
  readonly networkAllow: readonly string[];
  readonly networkDeny: readonly string[];
  readonly landlockFallback: boolean;
}

export interface ShellEnvironmentPolicy {
  readonly inherit: 'all' | 'core' | 'none';
  /** True keeps variables that look like secrets. Our default is false; the recorded program's was true. */
  readonly ignoreDefaultExcludes: boolean;
  readonly exclude: readonly string[];
  readonly includeOnly: readonly string[];
  readonly set: Readonly<Record<string, string>>;
}

/** `table` has passed `checkShape`, so the casts below only repeat what was checked. */
export function readConfig(table: Table): Config {
  const reviewer = sub(table, 'auto_review')['policy'] as string | undefined;
  return {
    ...modelSettings(table),
    ...safetySettings(table),
    ...(reviewer === undefined ? {} : { reviewerPolicy: reviewer }),
    steerDelivery: (table['steer_delivery'] as SteerDelivery | undefined) ?? 'next_step',
    budget: readBudget(table),
    projectDocMaxBytes: (table['project_doc_max_bytes'] as number | undefined) ?? 32_768,
    projectDocFallbackFilenames: list(table['project_doc_fallback_filenames']),
    projectRootMarkers: table['project_root_markers'] === undefined ? ['.git'] : list(table['project_root_markers']),
    webSearch: readWebSearch(table),
    updatePlan: (sub(sub(table, 'tools'), 'update_plan')['enabled'] as boolean | undefined) ?? true,
    viewImage: readViewImage(sub(table, 'tools')['view_image']),
    features: readFeatures(sub(table, 'features')),
    saveHistory: sub(table, 'history')['persistence'] !== 'none',
    durability: (table['durability'] as 'process' | 'power' | undefined) ?? 'process',
    mcpServers: sub(table, 'mcp_servers'),
  };
}

function modelSettings(table: Table) {
  return {
    ...pick(table, 'model', 'model'),
    ...pick(table, 'model_provider', 'modelProvider'),
    providers: readProviders(table),
    ...pick(table, 'openai_base_url', 'openaiBaseUrl'),
    ...pick(table, 'oss_provider', 'ossProvider'),
    ...pick(table, 'model_reasoning_effort', 'reasoningEffort'),
    ...pick(table, 'model_reasoning_summary', 'reasoningSummary'),
    ...pick(table, 'model_verbosity', 'verbosity'),
    ...pickNumber(table, 'model_context_window', 'contextWindow'),
    ...pickNumber(table, 'model_auto_compact_token_limit', 'autoCompactTokenLimit'),
    ...pickNumber(table, 'tool_output_token_limit', 'toolOutputTokenLimit'),
    ...pick(table, 'compact_prompt', 'compactPrompt'),
    ...pick(table, 'model_instructions_file', 'modelInstructionsFile'),
    ...pick(table, 'developer_instructions', 'developerInstructions'),
    ...pick(table, 'instructions', 'instructions'),
  };
}

function safetySettings(table: Table) {
  const mode = table['sandbox_mode'] as SandboxMode | undefined;
  const approval = table['approval_policy'] as ApprovalPolicy | undefined;
  return {
    ...(approval === undefined ? {} : { approvalPolicy: completeApproval(approval) }),
    approvalsReviewer: table['approvals_reviewer'] === undefined ? 'user' : reviewerName(table['approvals_reviewer']),
    ...(mode === undefined ? {} : { sandboxMode: mode }),
    workspaceWrite: readWorkspaceWrite(sub(table, 'sandbox_workspace_write')),
    sandbox: readSandboxExtras(sub(table, 'sandbox')),
    ...pick(table, 'default_permissions', 'defaultPermissions'),
    permissions: sub(table, 'permissions'),
    knownSafeCommands: (table['known_safe_commands'] as boolean | undefined) ?? true,
    shellEnvironment: readShellEnvironment(sub(table, 'shell_environment_policy')),
    allowLoginShell: (table['allow_login_shell'] as boolean | undefined) ?? true,
    backgroundTerminalMaxTimeoutMs: (table['background_terminal_max_timeout'] as number | undefined) ?? 300_000,
  } as const;
}

function reviewerName(value: unknown): 'user' | 'auto_review' {
  return value === 'user' ? 'user' : 'auto_review';
}

/** Codex 0.171: a kind of question that is not named may not be asked. */
function completeApproval(policy: ApprovalPolicy): ApprovalPolicy {
  if (typeof policy === 'string') return policy;
  const none = {
    sandbox_approval: false,
    rules: false,
    mcp_elicitations: false,
    request_permissions: false,
    skill_approval: false,
  };
  return { granular: { ...none, ...policy.granular } };
}

function readWorkspaceWrite(table: Table): WorkspaceWriteSettings {
  return {
    writableRoots: list(table['writable_roots']),
    networkAccess: table['network_access'] === true,
    excludeTmpdirEnvVar: table['exclude_tmpdir_env_var'] === true,
    excludeSlashTmp: table['exclude_slash_tmp'] === true,
  };
}

function readSandboxExtras(table: Table): SandboxExtras {
  const unix = table['unix_sockets'] as SandboxExtras['unixSockets'];
  return {
    readOnly: list(table['read_only']),
    denyRead: list(table['deny_read']),
    git: table['git'] === 'commit' ? 'commit' : 'read-only',
    ...(unix === undefined ? {} : { unixSockets: unix }),
    networkAllow: list(table['network_allow']),
    networkDeny: list(table['network_deny']),
    landlockFallback: sub(table, 'linux')['landlock_fallback'] === true,
  };
}

function readShellEnvironment(table: Table): ShellEnvironmentPolicy {
  return {
    inherit: (table['inherit'] as ShellEnvironmentPolicy['inherit'] | undefined) ?? 'all',
    ignoreDefaultExcludes: table['ignore_default_excludes'] === true,
    exclude: list(table['exclude']),
    includeOnly: list(table['include_only']),
    set: sub(table, 'set') as Readonly<Record<string, string>>,
  };
}

function readBudget(table: Table): Budget {
  const seconds = table['max_wall_seconds_per_turn'] as number | undefined;
  return {
    ...pickNumber(table, 'max_steps_per_turn', 'maxSteps'),
    ...pickNumber(table, 'max_tokens_per_turn', 'maxTokens'),
    ...(seconds === undefined ? {} : { maxWallMs: seconds * 1000 }),
  };
}

/** Off by default: a search leaves the machine, so it is asked for. `tools.web_search = true` is the older spelling. */
function readWebSearch(table: Table): Config['webSearch'] {
  const mode = table['web_search'];
  if (mode === 'cached' || mode === 'live' || mode === 'disabled') return mode;
  if (mode === 'indexed') return 'cached';
  return sub(table, 'tools')['web_search'] === true ? 'live' : 'disabled';
}

function readViewImage(value: unknown): boolean {
  return isTable(value) ? value['enabled'] !== false : value !== false;
}

function readFeatures(table: Table): Readonly<Record<string, boolean>> {
  return Object.fromEntries(
    Object.entries(table).filter((entry): entry is [string, boolean] => entry[1] === !!entry[1]),
  );
}

function sub(table: Table, key: string): Table {
  const value = table[key];
  return isTable(value) ? value : {};
}

function list(value: unknown): readonly string[] {
  return Array.isArray(value) ? (value as readonly string[]) : [];
}

function pick<K extends string>(table: Table, key: string, name: K): { readonly [P in K]?: string } {
  const value = table[key];
  return typeof value === 'string' ? ({ [name]: value } as { [P in K]: string }) : {};
}

function pickNumber<K extends string>(table: Table, key: string, name: K): { readonly [P in K]?: number } {
  const value = table[key];
  return typeof value === 'number' ? ({ [name]: value } as { [P in K]: number }) : {};
}

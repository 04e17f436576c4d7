/** `[mcp_servers]` as written → servers to start. Keys and defaults are Codex 0.171's. */
import { checkShape, type Problem, type Shape } from '../../config/index.js';
import { TurnwrightError } from '../../protocol/index.js';

/** When a person is asked about a tool: by the tool's own hints, always, or never. */
export type McpApprovalMode = 'auto' | 'prompt' | 'approve';

export interface StdioServer {
  readonly type: 'stdio';
  readonly argv: readonly string[];
  /** Set as written. */
  readonly env: Readonly<Record<string, string>>;
  /** Names of our own variables that are passed on. */
  readonly envVars: readonly string[];
  /** As written; relative to the engine's directory. */
  readonly cwd?: string;
}

export interface HttpServer {
  readonly type: 'http';
  readonly url: string;
  readonly bearerTokenEnvVar?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Header name → environment variable. */
  readonly envHeaders: Readonly<Record<string, string>>;
}

export interface McpServerConfig {
  readonly name: string;
  readonly transport: StdioServer | HttpServer;
  /** The thread does not start without it. */
  readonly required: boolean;
  readonly startupTimeoutMs: number;
  readonly toolTimeoutMs: number;
  /** Undefined: every tool. */
  readonly enabledTools?: readonly string[];
  readonly disabledTools: readonly string[];
  readonly defaultApprovalMode: McpApprovalMode;
  readonly toolApprovalModes: ReadonlyMap<string, McpApprovalMode>;
  readonly supportsParallelToolCalls: boolean;
}

const DEFAULT_STARTUP_TIMEOUT_SEC = 10;
const DEFAULT_TOOL_TIMEOUT_SEC = 60;

/**
 * Disabled servers are left out. An entry that cannot be used is left out with a warning, unless it is `required`.
 * @throws `TW_CONFIG_VALUE` for a value of the wrong type, and for a required entry that cannot be used.
 */
export function readMcpServers(raw: unknown): { servers: McpServerConfig[]; warnings: string[] } {
  const servers: McpServerConfig[] = [];
  const warnings: string[] = [];
  const problems = checkShape(raw ?? {}, { kind: 'map', of: SERVER }, ['mcp_servers']);
  for (const problem of problems) {
    if (problem.kind === 'value') throw wrongValue(problem);
    warnings.push(unknownKey(problem));
  }
  const entries = Object.entries((raw ?? {}) as Record<string, Entry>); // checked just above
  for (const [name, entry] of entries.filter(([, { enabled }]) => enabled !== false)) {
    const transport = readTransport(name, entry, warnings);
    if (typeof transport !== 'string') servers.push(readServer(name, entry, transport));
    else if (entry.required) throw new TurnwrightError('TW_CONFIG_VALUE', transport, { facts: { server: name } });
    else warnings.push(`${transport}; the server is ignored`);
  }
  return { servers, warnings };
}

/** An entry that has passed `SERVER`. */
interface Entry {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly env_vars?: readonly (string | { readonly name: string })[];
  readonly cwd?: string;
  readonly url?: string;
  readonly bearer_token_env_var?: string;
  readonly http_headers?: Readonly<Record<string, string>>;
  readonly env_http_headers?: Readonly<Record<string, string>>;
  readonly oauth?: unknown;
  readonly enabled?: boolean;
  readonly required?: boolean;
  readonly startup_timeout_sec?: number;
  readonly startup_timeout_ms?: number;
  readonly tool_timeout_sec?: number;
  readonly enabled_tools?: readonly string[];
  readonly disabled_tools?: readonly string[];
  readonly default_tools_approval_mode?: McpApprovalMode;
  readonly tools?: Readonly<Record<string, { readonly approval_mode?: McpApprovalMode }>>;
  readonly supports_parallel_tool_calls?: boolean;
}

const text: Shape = { kind: 'string' };
const flag: Shape = { kind: 'boolean' };
const raw: Shape = { kind: 'raw' };
const strings: Shape = { kind: 'strings' };
const positive: Shape = { kind: 'number', above: 0 };
const textMap: Shape = { kind: 'map', of: text };
const approvalMode: Shape = { kind: 'words', words: ['auto', 'prompt', 'approve'] };

const SERVER: Shape = {
  kind: 'table',
  keys: {
    command: text,
    args: strings,
    env: textMap,
    env_vars: raw,
    cwd: text,
    url: text,
    bearer_token_env_var: text,
    http_headers: textMap,
    env_http_headers: textMap,
    oauth: raw,
    oauth_resource: raw,
    scopes: raw,
    enabled: flag,
    required: flag,
    startup_timeout_sec: positive,
    startup_timeout_ms: positive,
    tool_timeout_sec: positive,
    enabled_tools: strings,
    disabled_tools: strings,
    default_tools_approval_mode: approvalMode,
    tools: { kind: 'map', of: { kind: 'table', keys: { approval_mode: approvalMode } } },
    supports_parallel_tool_calls: flag,
  },
};

/** The transport, or a sentence on why there is none. */
function readTransport(name: string, entry: Entry, warnings: string[]): StdioServer | HttpServer | string {
  const key = `mcp_servers.${name}`;
  if (entry.command !== undefined && entry.url !== undefined)
    return `${key} has both \`command\` and \`url\`; keep the one that is meant`;
  if (entry.url !== undefined) return readHttp(key, entry, entry.url, warnings);
  if (entry.command === undefined) return `${key} has neither \`command\` (a program) nor \`url\` (a server)`;
  if (entry.command.trim() === '') return `${key}.command is empty`;
  return {
    type: 'stdio',
    argv: [entry.command, ...(entry.args ?? [])],
    env: entry.env ?? {},
    envVars: readEnvVars(key, entry.env_vars),
    ...(entry.cwd === undefined ? {} : { cwd: entry.cwd }),
  };
}

function readHttp(key: string, entry: Entry, url: string, warnings: string[]): HttpServer | string {
  if (!/^https?:$/.test(protocolOf(url)))
    return `${key}.url is ${JSON.stringify(url)}; expected an http: or https: address`;
  if (entry.oauth !== undefined)
    warnings.push(`${key}.oauth is not supported; name a token with ${key}.bearer_token_env_var instead`);
  const bearer = entry.bearer_token_env_var;
  return {
    type: 'http',
    url,
    headers: entry.http_headers ?? {},
    envHeaders: entry.env_http_headers ?? {},
    ...(bearer === undefined ? {} : { bearerTokenEnvVar: bearer }),
  };
}

function protocolOf(url: string): string {
  try {
    return new URL(url).protocol;
  } catch {
    return '';
  }
}

/** Names, or tables with a name; where the value comes from (`source`) is always this machine. */
function readEnvVars(key: string, value: unknown): readonly string[] {
  const names = Array.isArray(value) ? value.map(nameOfVariable) : value === undefined ? [] : [undefined];
  if (names.every((name) => name !== undefined)) return names;
  throw new TurnwrightError(
    'TW_CONFIG_VALUE',
    `configuration: ${key}.env_vars is ${JSON.stringify(value)}; expected a list of variable names`,
    { facts: { key: `${key}.env_vars`, got: value } },
  );
}

function nameOfVariable(entry: unknown): string | undefined {
  if (typeof entry === 'string') return entry;
  const named = typeof entry === 'object' && entry !== null && 'name' in entry ? entry.name : undefined;
  return typeof named === 'string' ? named : undefined;
}

function readServer(name: string, entry: Entry, transport: StdioServer | HttpServer): McpServerConfig {
  const modes = Object.entries(entry.tools ?? {}).flatMap(([tool, { approval_mode: mode }]) =>
    mode === undefined ? [] : [[tool, mode] as const],
  );
  const startupMs = entry.startup_timeout_ms ?? (entry.startup_timeout_sec ?? DEFAULT_STARTUP_TIMEOUT_SEC) * 1000;
  return {
    name,
    transport,
    required: entry.required ?? false,
    startupTimeoutMs: startupMs,
    toolTimeoutMs: (entry.tool_timeout_sec ?? DEFAULT_TOOL_TIMEOUT_SEC) * 1000,
    ...(entry.enabled_tools === undefined ? {} : { enabledTools: entry.enabled_tools }),
    disabledTools: entry.disabled_tools ?? [],
    defaultApprovalMode: entry.default_tools_approval_mode ?? 'auto',
    toolApprovalModes: new Map(modes),
    supportsParallelToolCalls: entry.supports_parallel_tool_calls ?? false,
  };
}

function wrongValue(problem: Extract<Problem, { kind: 'value' }>): TurnwrightError {
  const key = problem.path.join('.');
  const message = `configuration: ${key} is ${JSON.stringify(problem.got)}; expected ${problem.allowed}`;
  return new TurnwrightError('TW_CONFIG_VALUE', message, {
    facts: { key, got: problem.got, allowed: problem.allowed },
  });
}

function unknownKey(problem: Extract<Problem, { kind: 'unknown' }>): string {
  const meant = problem.nearest === undefined ? '' : `; did you mean \`${problem.nearest}\`?`;
  return `unknown configuration field \`${problem.path.join('.')}\`${meant}`;
}

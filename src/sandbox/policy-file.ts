/** Reads a policy from JSON as `turnwright sandbox --policy FILE` takes it. Relative paths are meant from the cwd. */
import { isAbsolute, join, resolve } from 'node:path';
import { type NetworkPolicy, type SandboxMode, type SandboxPolicy, TurnwrightError } from '../protocol/index.js';

const MODES: readonly SandboxMode[] = ['read-only', 'workspace-write', 'danger-full-access', 'external'];
const SOCKETS = ['deny', 'private', 'allow'] as const;
const GIT = ['read-only', 'commit'] as const;
const NETWORKS = ['off', 'proxied', 'full'] as const;
const LIMITS = ['full', 'limited'] as const;

/**
 * `{"mode": "workspace-write", "writable_roots": [], "read_only": [], "deny_read": [], "network": "off" | "proxied" |
 * "full", "allow_domains": [], "deny_domains": [], "network_mode": "full" | "limited", "unix_sockets": "deny" |
 * "private" | "allow", "git": "read-only" | "commit", "exclude_slash_tmp": false, "exclude_tmpdir_env_var": false,
 * "landlock_fallback": false}`. The cwd is a writable root in `workspace-write`.
 * @throws TurnwrightError `TW_USAGE` for anything else.
 */
export function parsePolicyFile(text: string, cwd: string): SandboxPolicy {
  const table = asTable(text);
  const mode = word(table, 'mode', MODES, 'workspace-write');
  const network = readNetwork(table);
  const absolute = (path: string): string => (isAbsolute(path) ? resolve(path) : join(cwd, path));
  return {
    mode,
    writableRoots: mode === 'workspace-write' ? [cwd, ...list(table, 'writable_roots').map(absolute)] : [],
    excludeSlashTmp: flag(table, 'exclude_slash_tmp'),
    excludeTmpdirEnvVar: flag(table, 'exclude_tmpdir_env_var'),
    readOnly: list(table, 'read_only').map(absolute),
    denyRead: list(table, 'deny_read').map(absolute),
    git: word(table, 'git', GIT, 'read-only'),
    network,
    unixSockets: word(table, 'unix_sockets', SOCKETS, network.kind === 'full' ? 'allow' : 'deny'),
    landlockFallback: flag(table, 'landlock_fallback'),
  };
}

type Table = Readonly<Record<string, unknown>>;

function asTable(text: string): Table {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw usage(`policy file: not valid JSON (${error instanceof Error ? error.message : String(error)})`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw usage('policy file: expected an object');
  return value as Table;
}

function readNetwork(table: Table): NetworkPolicy {
  const kind = word(table, 'network', NETWORKS, 'off');
  if (kind !== 'proxied') return { kind };
  return {
    kind,
    allow: list(table, 'allow_domains'),
    deny: list(table, 'deny_domains'),
    mode: word(table, 'network_mode', LIMITS, 'full'),
  };
}

function word<T extends string>(table: Table, key: string, words: readonly T[], otherwise: T): T {
  const value = table[key] ?? otherwise;
  const known = words.find((candidate) => candidate === value);
  if (known === undefined) throw usage(`policy file: "${key}" must be one of ${words.join(', ')}`);
  return known;
}

function list(table: Table, key: string): string[] {
  const value = table[key] ?? [];
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
    throw usage(`policy file: "${key}" must be a list of strings`);
  }
  return value;
}

function flag(table: Table, key: string): boolean {
  const value = table[key] ?? false;
  if (typeof value !== 'boolean') throw usage(`policy file: "${key}" must be true or false`);
  return value;
}

function usage(message: string): TurnwrightError {
  return new TurnwrightError('TW_USAGE', message);
}

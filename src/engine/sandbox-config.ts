/** The sandbox policy that configuration gives in a folder, for running a single command under it. */
import { realpath } from 'node:fs/promises';
import { buildSandboxPolicy, type Environment, loadConfig, resolveHomes } from '../config/index.js';
import type { SandboxPolicy } from '../protocol/index.js';

export interface SandboxPolicyRequest {
  /** Absolute. */
  readonly cwd: string;
  readonly env: Environment;
  readonly overrides: readonly string[];
  /** A permission profile by name, instead of what configuration chooses. */
  readonly profile?: string;
}

/** Read-only where configuration says nothing. Throws `TW_CONFIG_…`. */
export async function loadSandboxPolicy(request: SandboxPolicyRequest): Promise<SandboxPolicy> {
  const cwd = await realpath(request.cwd);
  const { config } = await loadConfig({ cwd, env: request.env, overrides: request.overrides });
  const { sandboxMode, ...rest } = config;
  const named = request.profile === undefined ? config : { ...rest, defaultPermissions: request.profile };
  const home = request.env['HOME'] ?? '/';
  return (await buildSandboxPolicy(named, { cwd, home, defaultMode: 'read-only', addDirs: [] })).policy;
}

/** Where our own files are, whether it exists or not. */
export function resolveHome(env: Environment): string {
  return resolveHomes(env).own;
}

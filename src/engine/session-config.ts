/** The configuration of a session as front-ends ask for it: files, overrides, and what the folder is. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { type Environment, exists, type LoadedConfig, loadConfig, type Table } from '../config/index.js';
import type { ModelProvider } from '../model/index.js';
import type { Tool } from '../orchestrator/index.js';
import type { SandboxMode } from '../protocol/index.js';

export interface SessionRequest {
  /** Absolute, symlinks resolved. */
  readonly cwd: string;
  readonly env: Environment;
  /** `-c key=value`. */
  readonly overrides?: readonly string[];
  /** What dedicated flags say, as configuration; wins over `overrides`. */
  readonly flags?: Table;
  readonly profile?: string;
  readonly strictConfig?: boolean;
  readonly ignoreUserConfig?: boolean;
  readonly ignoreRules?: boolean;
  /** The person trusts this project for this session. */
  readonly trustProject?: boolean;
  readonly bypassHookTrust?: boolean;
  /** Threads are kept in memory only. */
  readonly ephemeral?: boolean;
  readonly addDirs?: readonly string[];
  /** Use a local model server: the named one, else the first that answers. */
  readonly local?: { readonly provider?: string };
  /** Instead of the provider that configuration names. */
  readonly provider?: ModelProvider;
  /** Beside the built-in tools. */
  readonly extraTools?: readonly Tool[];
  /** Somebody answers approvals and questions. */
  readonly interactive: boolean;
  /** The sandbox when configuration says nothing. */
  readonly defaultSandbox: SandboxMode;
  /** Shows a sentence to the person: what was chosen for them, what is weaker than asked for. */
  notice(text: string): void;
}

export interface SessionConfig extends LoadedConfig {
  /** The working directory is inside a git repository. */
  readonly insideRepository: boolean;
}

/** Throws `TW_CONFIG_READ`, `TW_CONFIG_PARSE` or `TW_CONFIG_VALUE`. Warnings go to `notice`. */
export async function loadSessionConfig(request: SessionRequest): Promise<SessionConfig> {
  const trust = request.trustProject ? { projects: { [request.cwd]: { trust_level: 'trusted' } } } : {};
  const loaded = await loadConfig({
    cwd: request.cwd,
    env: request.env,
    flags: { ...request.flags, ...trust },
    strict: request.strictConfig ?? false,
    ignoreUser: request.ignoreUserConfig ?? false,
    ...(request.overrides === undefined ? {} : { overrides: request.overrides }),
    ...(request.profile === undefined ? {} : { profile: request.profile }),
  });
  for (const warning of loaded.warnings) request.notice(`warning: ${warning}`);
  for (const { path: file, disabledReason } of loaded.layers)
    if (disabledReason !== undefined && loaded.project.trust === 'unknown')
      request.notice(
        `warning: ${file} is not used: ${disabledReason} (exec --trust, or [projects] in your own config.toml)`,
      );
  return { ...loaded, insideRepository: await isInsideRepository(request.cwd) };
}

async function isInsideRepository(cwd: string): Promise<boolean> {
  for (let folder = cwd; ; folder = path.dirname(folder)) {
    if (await isRepository(path.join(folder, '.git'))) return true;
    if (folder === path.dirname(folder)) return false;
  }
}

/** A folder that git would use, or the pointer file of a work tree; an empty folder of that name is neither. */
async function isRepository(dotGit: string): Promise<boolean> {
  const facts = await stat(dotGit).catch(() => undefined);
  return facts !== undefined && (facts.isFile() || (await exists(path.join(dotGit, 'HEAD'))));
}

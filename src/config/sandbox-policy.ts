/** From configuration to the sandbox policy of a session. Roots are resolved once, here. */
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { type SandboxMode, type SandboxPolicy, TurnwrightError } from '../protocol/index.js';
import type { Config } from './config.js';
import { applyPermissions, type PermissionsResult } from './permissions.js';

export interface SandboxChoice {
  /** Absolute and resolved: the folder the session starts in. */
  readonly cwd: string;
  readonly home: string;
  /** Used when configuration names neither a mode nor a permission profile. */
  readonly defaultMode: SandboxMode;
  /** Further writable folders (`--add-dir`). */
  readonly addDirs: readonly string[];
}

export interface BuiltSandbox {
  readonly policy: SandboxPolicy;
  readonly warnings: readonly string[];
}

/**
 * `sandbox_mode` in any layer wins over permission profiles (Codex 0.171: the two families do not mix). A writable root
 * that does not exist is dropped with a warning and never created; `/`, kernel folders and our own home are refused.
 */
export async function buildSandboxPolicy(config: Config, choice: SandboxChoice): Promise<BuiltSandbox> {
  const profile = config.sandboxMode === undefined ? config.defaultPermissions : undefined;
  const wanted = profile === undefined ? fromMode(config, choice) : fromProfile(config, profile, choice);
  if (wanted.mode !== 'workspace-write') return { policy: { ...wanted, writableRoots: [] }, warnings: [] };
  const warnings: string[] = [];
  const roots = await resolveRoots([...wanted.writableRoots, ...choice.addDirs], choice, warnings);
  return { policy: { ...wanted, writableRoots: roots }, warnings };
}

function fromMode(config: Config, choice: SandboxChoice): SandboxPolicy {
  const mode = config.sandboxMode ?? choice.defaultMode;
  const full = mode === 'danger-full-access' || (mode === 'workspace-write' && config.workspaceWrite.networkAccess);
  return {
    ...basePolicy(config, full),
    mode,
    writableRoots: [choice.cwd, ...config.workspaceWrite.writableRoots],
  };
}

function basePolicy(config: Config, networkAccess: boolean): SandboxPolicy {
  const extras = config.sandbox;
  const proxied = !networkAccess && extras.networkAllow.length > 0;
  return {
    mode: 'read-only',
    writableRoots: [],
    excludeSlashTmp: config.workspaceWrite.excludeSlashTmp,
    excludeTmpdirEnvVar: config.workspaceWrite.excludeTmpdirEnvVar,
    readOnly: extras.readOnly,
    denyRead: extras.denyRead,
    git: extras.git,
    network: proxied
      ? { kind: 'proxied', allow: extras.networkAllow, deny: extras.networkDeny, mode: 'full' }
      : { kind: networkAccess ? 'full' : 'off' },
    unixSockets: extras.unixSockets ?? (networkAccess ? 'allow' : 'deny'),
    landlockFallback: extras.landlockFallback,
  };
}

function fromProfile(config: Config, name: string, choice: SandboxChoice): SandboxPolicy {
  const permissions: PermissionsResult = applyPermissions(name, config.permissions, choice);
  const base = basePolicy(config, permissions.network.kind === 'full');
  return {
    ...base,
    mode: permissions.mode,
    writableRoots: permissions.writableRoots,
    readOnly: [...base.readOnly, ...permissions.readOnly],
    denyRead: [...base.denyRead, ...permissions.denyRead],
    excludeSlashTmp: !permissions.slashTmp,
    excludeTmpdirEnvVar: !permissions.tmpdir,
    network: permissions.network,
  };
}

async function resolveRoots(
  roots: readonly string[],
  choice: SandboxChoice,
  warnings: string[],
): Promise<readonly string[]> {
  const resolved: string[] = [];
  for (const root of roots) {
    const absolute = path.resolve(choice.cwd, expandHome(root, choice.home));
    const real = await realpath(absolute).catch(() => undefined);
    if (real === undefined) warnings.push(`writable root ${absolute} does not exist; it is left out`);
    else if (!resolved.includes(refuseDangerous(real))) resolved.push(real);
  }
  return resolved;
}

const KERNEL_FOLDERS = ['/proc', '/sys', '/dev'];

function refuseDangerous(root: string): string {
  const kernel = KERNEL_FOLDERS.some((folder) => isInside(root, folder)) && !isInside(root, '/dev/shm');
  if (root !== '/' && !kernel) return root;
  throw new TurnwrightError(
    'TW_CONFIG_VALUE',
    `${root} cannot be a writable root of the sandbox; choose a narrower folder, or run without a sandbox (-s danger-full-access)`,
    { facts: { root } },
  );
}

function isInside(file: string, folder: string): boolean {
  return file === folder || file.startsWith(`${folder}/`);
}

function expandHome(file: string, home: string): string {
  return file === '~' || file.startsWith('~/') ? path.join(home, file.slice(1)) : file;
}

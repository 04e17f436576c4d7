/**
 * From the policy as configured to the policy as enforced: canonical roots, the defaults of the modes, everything a
 * plan must not look up again. Roots are resolved once, so that a command cannot move them by replacing a link.
 */
import { isAbsolute, resolve } from 'node:path';
import { type NetworkPolicy, type SandboxPolicy, TurnwrightError } from '../../protocol/index.js';
import { type FileView, resolvePath } from '../files.js';
import { isWithin } from '../paths.js';

/** Facts about this machine and process that a plan depends on. */
export interface SandboxHost {
  readonly uid: number;
  /** `$TMPDIR` of this process, when set. */
  readonly tmpdir?: string;
  /** The user's home directory. */
  readonly home: string;
  /** Our own state directory; never writable from inside. */
  readonly stateDir: string;
  /** Config homes (ours and those of the ecosystem); never writable from inside. */
  readonly configHomes: readonly string[];
  /** Where services of this user keep their sockets: `$XDG_RUNTIME_DIR`, `$SSH_AUTH_SOCK`. */
  readonly socketPlaces: readonly string[];
}

export interface ResolvedPolicy {
  readonly mode: 'read-only' | 'workspace-write';
  /** Canonical, existing, without duplicates. Empty in read-only mode. */
  readonly roots: readonly string[];
  /** Roots that are there only as temporary directories. They change all the time and are searched less deeply. */
  readonly temporary: readonly string[];
  readonly readOnly: readonly string[];
  readonly denyRead: readonly string[];
  readonly git: 'read-only' | 'commit';
  readonly network: NetworkPolicy;
  readonly unixSockets: 'deny' | 'private' | 'allow';
  readonly landlockFallback: boolean;
  /** One sentence per root that was left out. */
  readonly warnings: readonly string[];
}

const KERNEL_TREES = ['/proc', '/sys', '/dev'];
const SHARED_MEMORY = '/dev/shm';

/** Undefined for the modes that wrap nothing. @throws TurnwrightError `TW_CONFIG_VALUE` for a root that may never be one. */
export function resolvePolicy(policy: SandboxPolicy, host: SandboxHost, files: FileView): ResolvedPolicy | undefined {
  if (policy.mode === 'danger-full-access' || policy.mode === 'external') return undefined;
  const warnings: string[] = [];
  const none: Roots = { roots: [], temporary: [] };
  const found = policy.mode === 'read-only' ? none : collectRoots(policy, host, files, warnings);
  return {
    mode: policy.mode,
    ...found,
    readOnly: policy.readOnly.map((path) => resolve(path)),
    denyRead: policy.denyRead,
    git: policy.git,
    network: policy.network,
    unixSockets: policy.unixSockets,
    landlockFallback: policy.landlockFallback,
    warnings,
  };
}

type Roots = Pick<ResolvedPolicy, 'roots' | 'temporary'>;

function collectRoots(policy: SandboxPolicy, host: SandboxHost, files: FileView, warnings: string[]): Roots {
  const roots = new Set<string>();
  const temporary = new Set<string>();
  for (const configured of policy.writableRoots) {
    const root = canonicalRoot(configured, host, files);
    if (root.refused !== undefined) throw refusedRoot(configured, root.refused);
    if (root.path === undefined) warnings.push(`writable root ${configured} does not exist and is left out`);
    else roots.add(root.path);
  }
  const places = [
    ...(policy.excludeSlashTmp ? [] : ['/tmp']),
    ...(policy.excludeTmpdirEnvVar || host.tmpdir === undefined ? [] : [host.tmpdir]),
  ];
  for (const place of places) {
    const root = isAbsolute(place) ? canonicalRoot(place, host, files) : { refused: 'it is not absolute' };
    if (root.refused !== undefined) warnings.push(`temporary directory ${place} stays read-only: ${root.refused}`);
    else if (root.path !== undefined && !roots.has(root.path)) temporary.add(root.path);
  }
  return { roots: [...roots, ...temporary], temporary: [...temporary] };
}

interface CanonicalRoot {
  readonly path?: string;
  readonly refused?: string;
}

function canonicalRoot(configured: string, host: SandboxHost, files: FileView): CanonicalRoot {
  if (!isAbsolute(configured)) return { refused: 'it is not absolute' };
  const path = resolvePath(files, configured).path;
  if (path === '/') return { refused: 'it is the whole file system' };
  const kernel = KERNEL_TREES.find((tree) => isWithin(path, tree));
  if (kernel !== undefined && !isWithin(path, SHARED_MEMORY)) return { refused: `it lies in ${kernel}` };
  if (isWithin(path, host.stateDir)) return { refused: `it is the sandbox's own state directory` };
  return files.kind(path) === 'missing' ? {} : { path };
}

function refusedRoot(root: string, why: string): TurnwrightError {
  return new TurnwrightError('TW_CONFIG_VALUE', `writable root ${root} is refused: ${why}; name a directory below it`, {
    facts: { root },
  });
}

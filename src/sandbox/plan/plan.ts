/** The plan of one run: a pure function of the policy, the working directory and what the file system looks like. */
import { TurnwrightError } from '../../protocol/index.js';
import { type FileView, resolvePath } from '../files.js';
import { ancestors, isWithin } from '../paths.js';
import { accessOf, arrange, type Entry } from './entries.js';
import type { ResolvedPolicy, SandboxHost } from './policy.js';
import { hideDenied, looksLikeBareRepository, protectRoots } from './protect.js';
import type { WatchedLink } from './protection.js';

export interface SandboxPlan {
  /** Mounts, in the order in which they are made. */
  readonly entries: readonly Entry[];
  /** Links to compare afterwards. */
  readonly links: readonly WatchedLink[];
  readonly mustStayMissing: readonly string[];
  /** Writable directories that must not look like a bare repository afterwards. */
  readonly mustNotBecomeBare: readonly string[];
}

export function planSandbox(policy: ResolvedPolicy, cwd: string, host: SandboxHost, files: FileView): SandboxPlan {
  const found = protectRoots(policy, host, files);
  try {
    hideDenied(found, policy, files);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new TurnwrightError('TW_SANDBOX_UNAVAILABLE', `${error.message}; name a narrower place`, { cause: error });
  }
  const writable: Entry[] = policy.roots.map((path) => ({ path, access: 'write' }));
  const entries = arrange([...writable, ...found.entries].filter(isReachable(files)));
  const isWritable = (path: string): boolean => accessOf(entries, path) === 'write';
  const here = resolvePath(files, cwd).path;
  const bare = [...policy.roots, ...(policy.roots.some((root) => isWithin(here, root)) ? [here] : [])];
  return {
    entries,
    links: uniqueLinks(found.links).filter((link) => isWritable(link.path)),
    mustStayMissing: found.mustStayMissing.filter(isWritable),
    mustNotBecomeBare: [...new Set(bare)].filter((path) => !looksLikeBareRepository(files, path)),
  };
}

/** What no command can get at needs no mount, and bubblewrap, which has no more rights, could not make one there. */
function isReachable(files: FileView): (entry: Entry) => boolean {
  const known = new Map<string, boolean>();
  const enterable = (directory: string): boolean => {
    const found = known.get(directory) ?? files.enterable(directory);
    known.set(directory, found);
    return found;
  };
  return ({ path }) => ancestors(path).every(enterable);
}

function uniqueLinks(links: readonly WatchedLink[]): WatchedLink[] {
  return [...new Map(links.map((link) => [link.path, link])).values()];
}

/** The list that grows while the planner looks for protected paths, and the one way to add to it. */
import { type FileView, firstMissing, resolvePath } from '../files.js';
import type { Entry } from './entries.js';

/** A protected name that is a link: the link itself cannot be a mount point, so it is compared after the run. */
export interface WatchedLink {
  readonly path: string;
  readonly target: string;
}

/** What is collected while looking: entries for the mounts, and what must be compared afterwards. */
export interface Protection {
  readonly entries: Entry[];
  readonly links: WatchedLink[];
  /** Paths that do not exist and must still not exist afterwards; no stand-in may be put there. */
  readonly mustStayMissing: string[];
}

export interface ProtectOptions {
  /** Put an empty stand-in where nothing exists. Default: leave a missing path alone. */
  readonly missing?: 'dir' | 'file';
  /** The entry may vanish before the start (found by a search, not named by the policy). */
  readonly optional?: boolean;
}

/** Makes `path` read-only, links followed. */
export function protectPath(found: Protection, files: FileView, path: string, options: ProtectOptions = {}): void {
  const { path: place, links } = resolvePath(files, path);
  found.links.push(...links);
  const missing = firstMissing(files, place);
  const optional = options.optional === true ? { optional: true as const } : {};
  if (missing === undefined) found.entries.push({ path: place, access: 'read', ...optional });
  else if (options.missing !== undefined) {
    const shape = missing === place ? options.missing : 'dir';
    found.entries.push({ path: missing, access: 'read', placeholder: shape });
  }
}

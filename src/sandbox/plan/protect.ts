/** Which paths a plan protects, and how each is found. Pure but for the file view. */
import { isAbsolute, join } from 'node:path';
import { type FileView, resolvePath } from '../files.js';
import { depth, isWithin } from '../paths.js';
import { protectRepository } from './git.js';
import {
  BARE_TRUSTED_NAMES,
  EXISTING_NAMES,
  HOME_NAMES,
  PRIVATE_TMP_NAMES,
  RESERVED_NAMES,
  SKIPPED_DIRECTORIES,
} from './names.js';
import type { ResolvedPolicy, SandboxHost } from './policy.js';
import { type Protection, protectPath } from './protection.js';

export function protectRoots(policy: ResolvedPolicy, host: SandboxHost, files: FileView): Protection {
  const found: Protection = { entries: [], links: [], mustStayMissing: [] };
  for (const root of policy.roots) {
    if (files.kind(root) !== 'dir') continue;
    for (const name of RESERVED_NAMES) {
      if (name === '.git') protectRepository(found, files, join(root, name), policy, 'root');
      else protectPath(found, files, join(root, name), { missing: 'dir' });
    }
    for (const name of EXISTING_NAMES) protectPath(found, files, join(root, name));
    if (looksLikeBareRepository(files, root)) {
      for (const name of BARE_TRUSTED_NAMES) protectPath(found, files, join(root, name), { missing: 'dir' });
    }
    const { repositories, sockets } = walkRoot(files, root, policy.temporary.includes(root) ? 1 : WALK_DEPTH);
    for (const repository of repositories) protectRepository(found, files, repository, policy, 'nested');
    if (policy.unixSockets === 'private') hidePaths(found, files, sockets);
  }
  if (policy.roots.some((root) => isWithin(host.home, root))) {
    for (const name of HOME_NAMES) protectPath(found, files, join(host.home, name));
  }
  for (const place of [host.stateDir, ...host.configHomes]) protectPath(found, files, place);
  for (const path of policy.readOnly) protectPath(found, files, path, { missing: 'dir' });
  if (policy.unixSockets === 'private') hideHostSockets(found, policy, host, files);
  if (policy.roots.includes('/tmp')) hidePrivateTmp(found, policy, files);
  return found;
}

const WALK_DEPTH = 3;
const WALK_ENTRIES = 4000;

export interface Walked {
  /** `.git` entries, the root's own left out; nearest first. */
  readonly repositories: readonly string[];
  readonly sockets: readonly string[];
}

/** Looks below `root`, to a depth of `levels` directories and at most 4000 entries. Links are not followed. */
export function walkRoot(files: FileView, root: string, levels: number): Walked {
  const repositories: string[] = [];
  const sockets: string[] = [];
  let left = WALK_ENTRIES;
  let level = [root];
  for (let below = 0; below <= levels && level.length > 0; below++) {
    const next: string[] = [];
    for (const directory of level) {
      for (const { name, kind } of files.list(directory)) {
        if (left-- <= 0) return { repositories, sockets };
        if (kind === 'socket') sockets.push(`${directory}/${name}`);
        else if (name !== '.git') {
          if (kind === 'dir' && !SKIPPED_DIRECTORIES.has(name)) next.push(`${directory}/${name}`);
        } else if (directory !== root) repositories.push(`${directory}/${name}`);
      }
    }
    level = next;
  }
  return { repositories, sockets };
}

function hidePrivateTmp(found: Protection, policy: ResolvedPolicy, files: FileView): void {
  for (const { name, kind } of files.list('/tmp')) {
    const path = join('/tmp', name);
    if (kind !== 'dir' || !PRIVATE_TMP_NAMES.some((pattern) => pattern.test(name))) continue;
    if (policy.roots.some((root) => isWithin(root, path))) continue;
    found.entries.push({ path, access: 'deny', shape: 'dir', optional: true });
  }
}

/** Hides every path or glob of `denyRead`, by its real place. */
export function hideDenied(found: Protection, policy: ResolvedPolicy, files: FileView): void {
  for (const pattern of policy.denyRead) {
    hidePaths(found, files, /[*?[]/.test(pattern) ? expandGlob(files, pattern) : [pattern]);
  }
}

function hidePaths(found: Protection, files: FileView, paths: readonly string[]): void {
  for (const path of paths) {
    const { path: place, links } = resolvePath(files, path);
    found.links.push(...links);
    const kind = files.kind(place);
    if (kind === 'missing') continue;
    found.entries.push({ path: place, access: 'deny', shape: kind === 'dir' ? 'dir' : 'file' });
  }
}

/**
 * The sockets of the user's other programs: those the kernel lists, and the places where services keep theirs. Best
 * effort: one that is made later, or was bound in another network namespace elsewhere, is missed.
 */
function hideHostSockets(found: Protection, policy: ResolvedPolicy, host: SandboxHost, files: FileView): void {
  const listed = (files.text('/proc/net/unix') ?? '').split('\n').map((line) => /\s(\/\S.*)$/.exec(line)?.[1] ?? '');
  const sockets = listed.filter((path) => path !== '' && files.kind(resolvePath(files, path).path) === 'socket');
  // With the full network, name resolution may need files of /run; only its sockets are hidden then.
  const places = policy.network.kind === 'full' ? host.socketPlaces : ['/run', '/var/run', ...host.socketPlaces];
  hidePaths(found, files, [...new Set([...sockets, ...places])]);
}

const GLOB_ENTRIES = 50_000;

/** Existing paths that match an absolute glob with `*`, `?`, `[…]` inside a name and `**` across directories. */
export function expandGlob(files: FileView, pattern: string): string[] {
  if (!isAbsolute(pattern)) return [];
  const found = new Set<string>();
  let left = GLOB_ENTRIES;
  const visit = (at: string, parts: readonly string[]): void => {
    const [part, ...rest] = parts;
    if (part === undefined) {
      found.add(at);
      return;
    }
    if (part === '**') visit(at, rest);
    else if (!/[*?[]/.test(part)) {
      if (files.kind(join(at, part)) !== 'missing') visit(join(at, part), rest);
      return;
    }
    const matches = part === '**' ? undefined : nameMatcher(part);
    for (const { name, kind } of files.list(at)) {
      if (left-- <= 0) throw new RangeError(`denyRead pattern ${pattern} covers more than ${GLOB_ENTRIES} entries`);
      if (matches === undefined) {
        if (kind === 'dir') visit(join(at, name), parts);
      } else if (matches.test(name)) visit(join(at, name), rest);
    }
  };
  visit('/', pattern.split('/').filter(Boolean));
  return [...found].sort((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1));
}

function nameMatcher(part: string): RegExp {
  const source = part.replace(/\[!?[^\]]*\]|[*?]|[.+^${}()|\\[\]]/g, (piece) => {
    if (piece === '*') return '.*';
    if (piece === '?') return '.';
    if (piece.length > 1) return piece.replace(/^\[!/, '[^').replace(/\\/g, '\\\\');
    return `\\${piece}`;
  });
  return new RegExp(`^${source}$`, 's');
}

/** Directories that would be a git repository of their own if they held `HEAD`, `objects` and `refs`. */
export function looksLikeBareRepository(files: FileView, directory: string): boolean {
  return ['HEAD', 'objects', 'refs'].every((name) => files.kind(join(directory, name)) !== 'missing');
}

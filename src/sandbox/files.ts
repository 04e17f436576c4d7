/** What the planner may know about the file system. Tests give it a table, the backend the real thing. */
import { type Dirent, lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve, sep } from 'node:path';

export type EntryKind = 'dir' | 'file' | 'link' | 'socket' | 'other' | 'missing';

export interface Listed {
  readonly name: string;
  readonly kind: EntryKind;
}

export interface FileView {
  /** Kind of the entry itself (a link is a link). An unreadable place counts as missing. */
  kind(path: string): EntryKind;
  /** Target text of a link. */
  target(path: string): string;
  /** What a directory holds; empty when it cannot be read. */
  list(path: string): readonly Listed[];
  /** Text of a small file; undefined when it cannot be read. */
  text(path: string): string | undefined;
  /** False for a directory that uid 0 enters only by its capabilities: no command has those, so none gets in. */
  enterable(directory: string): boolean;
}

/** The real thing. Listings are kept until the directory's own stamp changes. */
export function createFileView(): FileView {
  const listings = new Map<string, Listing>();
  return {
    kind,
    target: (path) => readlinkSync(path),
    list: (path) => cachedList(listings, path),
    enterable,
    text(path) {
      try {
        return readFileSync(path, 'utf8').slice(0, MAX_TEXT);
      } catch {
        return undefined;
      }
    },
  };
}

function enterable(directory: string): boolean {
  if (process.getuid?.() !== 0) return true;
  const found = statSync(directory, { throwIfNoEntry: false });
  if (found === undefined) return true;
  return (found.mode & (found.uid === 0 ? 0o100 : found.gid === 0 ? 0o010 : 0o001)) !== 0;
}

interface Listing {
  readonly stamp: string;
  readonly entries: readonly Listed[];
}

const MAX_TEXT = 1024 * 1024;
const MAX_LISTINGS = 20_000;
/** File systems stamp in ticks: a listing made within this time of the directory's last change may be incomplete. */
const RACY_MS = 50;

function kind(path: string): EntryKind {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return 'missing';
    if (found.isSymbolicLink()) return 'link';
    return found.isDirectory() ? 'dir' : found.isFile() ? 'file' : found.isSocket() ? 'socket' : 'other';
  } catch {
    return 'missing';
  }
}

function cachedList(listings: Map<string, Listing>, path: string): readonly Listed[] {
  try {
    const found = statSync(path);
    const stamp = `${found.dev}:${found.ino}:${found.mtimeMs}:${found.ctimeMs}`; // fractions of a millisecond and all
    const known = listings.get(path);
    if (known?.stamp === stamp) return known.entries;
    const entries = readdirSync(path, { withFileTypes: true }).map(listed);
    if (listings.size >= MAX_LISTINGS) listings.clear();
    if (Date.now() - found.ctimeMs > RACY_MS) listings.set(path, { stamp, entries });
    return entries;
  } catch {
    return [];
  }
}

function listed(entry: Dirent): Listed {
  const { name } = entry;
  if (entry.isSymbolicLink()) return { name, kind: 'link' };
  return { name, kind: entry.isDirectory() ? 'dir' : entry.isFile() ? 'file' : entry.isSocket() ? 'socket' : 'other' };
}

export interface Resolved {
  /** The path with every link followed as far as it exists; the rest is appended as written. */
  readonly path: string;
  /** The links on the way, each by its own canonical place. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
}

const MAX_LINKS = 40;

/** Follows links like `realpath`, but keeps going past a missing component and tells which links it met. */
export function resolvePath(files: FileView, path: string): Resolved {
  const links: { path: string; target: string }[] = [];
  let pending = resolve(path).split(sep).filter(Boolean);
  let at = sep as string;
  while (pending.length > 0) {
    const name = pending[0]!;
    pending = pending.slice(1);
    if (name === '..') at = dirname(at);
    if (name === '..' || name === '.') continue;
    const next = join(at, name);
    if (files.kind(next) !== 'link' || links.length >= MAX_LINKS) {
      at = next;
      continue;
    }
    const target = files.target(next);
    links.push({ path: next, target });
    if (isAbsolute(target)) at = sep;
    pending = [...target.split(sep).filter(Boolean), ...pending];
  }
  return { path: at, links };
}

/** The shallowest component of `path` that does not exist, or undefined when all of it does. */
export function firstMissing(files: FileView, path: string): string | undefined {
  if (files.kind(path) !== 'missing') return undefined;
  let missing = path;
  while (dirname(missing) !== missing && files.kind(dirname(missing)) === 'missing') missing = dirname(missing);
  return missing;
}

/**
 * A plan is a list of entries: this path is writable, this one read-only, this one hidden. The more specific path
 * wins; at equal depth deny beats read beats write. `arrange` turns any such list into mounts in the order in which
 * bubblewrap must make them. Pure.
 */
import { ancestors, depth, isBelow } from '../paths.js';

export type Access = 'write' | 'read' | 'deny';

export interface Entry {
  readonly path: string;
  readonly access: Access;
  /** Set when nothing exists there yet: an empty stand-in is made before the start and removed after the end. */
  readonly placeholder?: 'dir' | 'file';
  /** It may vanish before the start; then there is nothing to protect. */
  readonly optional?: true;
  /** A denied entry is hidden by an empty directory or by an unreadable file. */
  readonly shape?: 'dir' | 'file';
}

const RANK: Readonly<Record<Access, number>> = { write: 0, read: 1, deny: 2 };

/**
 * Drops what changes nothing, adds pins, sorts shallow first.
 *
 * A pin is a writable self-bind of a directory that contains a mount point: without it the directory could be renamed
 * away and rebuilt with other contents (Codex 0.171 lets that through).
 */
export function arrange(entries: readonly Entry[]): readonly Entry[] {
  const strictest = strictestPerPath(entries);
  const kept = new Map<string, Entry>();
  for (const entry of byDepth([...strictest.values()])) {
    const around = accessAt(kept, entry.path);
    if (entry.access === 'write' || (entry.access === 'read' ? around === 'write' : around !== 'deny')) {
      kept.set(entry.path, entry);
    }
  }
  const pins = new Map<string, Entry>();
  for (const path of kept.keys()) {
    for (const ancestor of ancestors(path)) {
      if (!kept.has(ancestor) && accessAt(kept, ancestor) === 'write') {
        pins.set(ancestor, { path: ancestor, access: 'write' });
      }
    }
  }
  return byDepth([...kept.values(), ...pins.values()]);
}

/** What a path's nearest entry says; `undefined` is the read-only base. */
export function accessOf(entries: readonly Entry[], path: string): Access | undefined {
  let best: Entry | undefined;
  for (const entry of entries) {
    if (entry.path !== path && !isBelow(path, entry.path)) continue;
    if (best === undefined || outranks(entry, best)) best = entry;
  }
  return best?.access;
}

function outranks(entry: Entry, other: Entry): boolean {
  const deeper = depth(entry.path) - depth(other.path);
  return deeper > 0 || (deeper === 0 && RANK[entry.access] > RANK[other.access]);
}

function strictestPerPath(entries: readonly Entry[]): Map<string, Entry> {
  const found = new Map<string, Entry>();
  for (const entry of entries) {
    const known = found.get(entry.path);
    if (known === undefined || RANK[entry.access] > RANK[known.access]) found.set(entry.path, entry);
  }
  return found;
}

function byDepth(entries: readonly Entry[]): Entry[] {
  return [...entries].sort((a, b) => depth(a.path) - depth(b.path) || (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

/** Access at `path` by the entries kept so far, which hold no entry deeper than `path` itself. */
function accessAt(kept: ReadonlyMap<string, Entry>, path: string): Access | undefined {
  const chain = ancestors(path);
  for (let index = chain.length - 1; index >= 0; index--) {
    const found = kept.get(chain[index]!);
    if (found !== undefined) return found.access;
  }
  return undefined;
}

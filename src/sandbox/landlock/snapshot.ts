/**
 * Landlock cannot protect a path inside a writable root, so what is there is remembered before a command and compared
 * after it: changed files get their old contents back, new ones are moved aside. Detection and repair, not prevention.
 */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Violation } from '../after.js';
import type { SandboxPlan } from '../plan/plan.js';

interface Remembered {
  readonly kind: 'dir' | 'file' | 'link';
  readonly mode: number;
  /** Contents of a file (undefined when it is too large), target of a link. */
  readonly data?: Buffer | string;
  /** Size, times and number: what tells that a large file changed. */
  readonly stamp: string;
}

export interface Snapshot {
  compare(): Violation[];
}

const MAX_FILE = 1024 * 1024;
const MAX_ENTRIES = 5000;

export function takeSnapshot(plan: SandboxPlan): Snapshot {
  const roots = plan.entries
    .filter((entry) => entry.access === 'read' && entry.placeholder === undefined)
    .map(({ path }) => path);
  const before = new Map<string, Remembered>();
  for (const root of roots) remember(root, before);
  return {
    compare() {
      const now = new Map<string, Remembered>();
      for (const root of roots) remember(root, now);
      const fresh = [...now.keys()].filter((path) => !before.has(path));
      const topmost = fresh.filter((path) => !fresh.includes(dirname(path)));
      return [...topmost.map(setAside), ...[...before].flatMap(([path, old]) => restore(path, old, now.get(path)))];
    },
  };
}

function remember(path: string, into: Map<string, Remembered>): void {
  if (into.size >= MAX_ENTRIES) return;
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  const stamp = `${found.size}:${found.mtimeMs}:${found.ino}`;
  const mode = found.mode & 0o7777;
  if (found.isDirectory()) {
    into.set(path, { kind: 'dir', mode, stamp: '' });
    for (const name of readdirSync(path)) remember(join(path, name), into);
  } else if (found.isSymbolicLink()) into.set(path, { kind: 'link', mode, data: readlinkSync(path), stamp: '' });
  else if (found.isFile()) {
    into.set(path, { kind: 'file', mode, stamp, ...(found.size > MAX_FILE ? {} : { data: readFileSync(path) }) });
  }
}

function setAside(path: string): Violation {
  const movedTo = `${path}.quarantine-${Date.now()}`;
  renameSync(path, movedTo);
  return { path, movedTo, text: `${path} is protected; what was put there was moved to ${movedTo}` };
}

function restore(path: string, old: Remembered, now: Remembered | undefined): Violation[] {
  if (now !== undefined && same(old, now)) return [];
  if (old.kind === 'file' && old.data === undefined) {
    return [{ path, text: `${path} is protected but was changed; it is too large to be put back` }];
  }
  if (now !== undefined && (now.kind !== old.kind || old.kind !== 'dir'))
    rmSync(path, { recursive: true, force: true });
  mkdirSync(dirname(path), { recursive: true });
  if (old.kind === 'dir') mkdirSync(path, { recursive: true });
  else if (old.kind === 'link') symlinkSync(old.data as string, path);
  else writeFileSync(path, old.data as Buffer);
  if (old.kind !== 'link') chmodSync(path, old.mode);
  return [{ path, text: `${path} is protected; its old contents were put back` }];
}

function same(old: Remembered, now: Remembered): boolean {
  if (old.kind !== now.kind || old.mode !== now.mode) return false;
  if (old.data === undefined || now.data === undefined) return old.stamp === now.stamp && old.data === now.data;
  return typeof old.data === 'string' ? old.data === now.data : old.data.equals(now.data as Buffer);
}

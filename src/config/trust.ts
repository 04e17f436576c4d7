/** Which folder a project is, and whether the person trusts it. */
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { exists } from './homes.js';
import type { Table } from './layers.js';
import { isTable } from './shape.js';

export interface Project {
  /** The first parent that holds a root marker; the working directory itself when none does. */
  readonly root: string;
  readonly hasMarker: boolean;
  readonly trust: 'trusted' | 'untrusted' | 'unknown';
}

/** `table` must not hold anything that the project itself wrote: no project may trust itself. */
export async function resolveTrust(cwd: string, table: Table): Promise<Project> {
  const markers = Array.isArray(table['project_root_markers']) ? (table['project_root_markers'] as string[]) : ['.git'];
  const marked = await findRoot(cwd, markers);
  const root = marked ?? cwd;
  const trust = (await trustLevel(cwd, table)) ?? (await trustLevel(root, table)) ?? 'unknown';
  return { root, hasMarker: marked !== undefined, trust };
}

/** `cwd` and its parents up to `root`, outermost first. */
export function foldersFromRoot(root: string, cwd: string): readonly string[] {
  const folders = [cwd];
  while (folders[0] !== root && folders[0] !== path.dirname(folders[0]!)) folders.unshift(path.dirname(folders[0]!));
  return folders;
}

async function findRoot(cwd: string, markers: readonly string[]): Promise<string | undefined> {
  for (const folder of foldersFromRoot(path.parse(cwd).root, cwd).toReversed()) {
    for (const marker of markers) if (await exists(path.join(folder, marker))) return folder;
  }
  return undefined;
}

async function trustLevel(folder: string, table: Table): Promise<'trusted' | 'untrusted' | undefined> {
  const projects = table['projects'];
  if (!isTable(projects)) return undefined;
  const names = new Set([folder, await realpath(folder).catch(() => folder)]);
  for (const [name, entry] of Object.entries(projects)) {
    if (!names.has(path.resolve(name)) || !isTable(entry)) continue;
    const level = entry['trust_level'];
    if (level === 'trusted' || level === 'untrusted') return level;
  }
  return undefined;
}

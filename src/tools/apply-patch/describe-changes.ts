/** A plan as clients see it: one change per file, sorted by path, and one diff. */

import { resolve } from 'node:path';
import type { FileChange } from '../../protocol/index.js';
import type { ParsedPatch } from './parse-patch.js';
import type { HunkResult, PatchPlan } from './plan-patch.js';
import { unifiedDiff } from './unified-diff.js';

export interface DescribedChanges {
  readonly changes: readonly FileChange[];
  /** The diffs of all changes, one after the other. */
  readonly diff: string;
}

export async function describeChanges(plan: PatchPlan): Promise<DescribedChanges> {
  const described: FileChange[] = [];
  for (const result of mergeByPath(plan.results)) {
    const { path, movePath, kind, before, after } = result;
    const diff = await unifiedDiff(
      { path, text: before, binary: result.binaryBefore },
      { path: movePath ?? path, text: after },
      plan.cwd,
    );
    described.push({ path, kind, ...(movePath === undefined ? {} : { movePath }), ...(diff === '' ? {} : { diff }) });
  }
  const changes = described.sort(byPath);
  return { changes, diff: changes.map((change) => change.diff ?? '').join('') };
}

/** What a patch says it will change, when its files cannot be read yet. */
export function announcedChanges(patch: ParsedPatch, cwd: string): readonly FileChange[] {
  const changes = new Map<string, FileChange>();
  for (const hunk of patch.hunks) {
    const path = resolve(cwd, hunk.path);
    const movePath =
      hunk.kind === 'update' && hunk.movePath !== undefined ? { movePath: resolve(cwd, hunk.movePath) } : {};
    changes.set(path, { path, kind: hunk.kind, ...movePath });
  }
  return [...changes.values()].sort(byPath);
}

function byPath(a: FileChange, b: FileChange): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0;
}

/** Several hunks of one path count as one change from the first state to the last. A moved file stays apart. */
function mergeByPath(results: readonly HunkResult[]): HunkResult[] {
  const merged = new Map<string, HunkResult>();
  const all: HunkResult[] = [];
  for (const result of results) {
    const first = merged.get(result.path);
    if (!first || result.movePath !== undefined) {
      all.push(result);
      if (result.movePath === undefined) merged.set(result.path, result);
      else merged.delete(result.path);
      continue;
    }
    const whole = { ...first, kind: mergedKind(first, result), after: result.after };
    all[all.indexOf(first)] = whole;
    merged.set(result.path, whole);
  }
  return all;
}

function mergedKind(first: HunkResult, last: HunkResult): HunkResult['kind'] {
  if (last.kind === 'delete') return 'delete';
  return first.kind === 'add' ? 'add' : 'update';
}

/** The net diff of a turn: what its patches changed, against the files as they were before the first of them. */
import { readRegularFile } from '../../lib/index.js';
import { decodeUtf8 } from './patch-files.js';
import { type DiffSide, unifiedDiff } from './unified-diff.js';

export interface TurnDiffTracker {
  /**
   * Remembers the files as they are now; call it before a patch writes. A path that is known keeps its first state.
   * Paths are absolute.
   */
  snapshot(paths: Iterable<string>): Promise<void>;
  /** Unified diff from the snapshots to the files as they are now, sorted by path. Empty when changes cancel out. */
  diff(): Promise<string>;
}

/** Larger files are only compared, not shown. */
const MAX_SHOWN_BYTES = 4 * 1024 * 1024;

/** @param cwd absolute; paths in the diff are relative to it. Commands that write files are not tracked. */
export function createTurnDiffTracker(cwd: string): TurnDiffTracker {
  const known = new Map<string, Promise<FileState>>();
  return {
    async snapshot(paths) {
      const fresh = [...new Set(paths)].filter((path) => !known.has(path));
      for (const path of fresh) known.set(path, readState(path));
      await Promise.all(fresh.map((path) => known.get(path)));
    },
    async diff() {
      const sections = [...known]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(async ([path, first]) => {
          const [before, now] = await Promise.all([first, readState(path)]);
          if (before !== undefined && now !== undefined && before.equals(now)) return '';
          return unifiedDiff(asSide(path, before), asSide(path, now), cwd);
        });
      return (await Promise.all(sections)).join('');
    },
  };
}

/** Undefined: no file there. */
type FileState = Buffer | undefined;

async function readState(path: string): Promise<FileState> {
  try {
    return await readRegularFile(path, Number.MAX_SAFE_INTEGER);
  } catch {
    return undefined;
  }
}

function asSide(path: string, state: FileState): DiffSide {
  if (state === undefined) return { path, text: undefined };
  const text = state.length > MAX_SHOWN_BYTES ? undefined : decodeUtf8(state);
  return { path, text, binary: text === undefined };
}

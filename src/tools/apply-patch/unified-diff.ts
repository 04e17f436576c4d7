/** Unified diffs in git's form. `diff` is loaded when the first one is asked for. */
import { isAbsolute, relative, sep } from 'node:path';

/** One side of a comparison. `text` undefined: no file. `binary`: there is one, but it is not text (or too large). */
export interface DiffSide {
  readonly path: string;
  readonly text: string | undefined;
  readonly binary?: boolean;
}

/** Above this many differing lines the search for the shortest diff stops, and all of the text counts as changed. */
const MAX_EDITS = 4000;

/**
 * A whole file section: `diff --git` line, names, hunks. Empty when nothing changed. Paths are shown relative to `cwd`
 * when they lie below it.
 */
export async function unifiedDiff(before: DiffSide, after: DiffSide, cwd: string): Promise<string> {
  const [from, to] = [shownPath(before.path, cwd), shownPath(after.path, cwd)];
  const [gone, made] = [isAbsent(after), isAbsent(before)];
  const moved = from !== to;
  if ((gone && made) || (!moved && !gone && !made && before.text === after.text && !before.binary)) return '';
  const head = [`diff --git a/${from} b/${to}`];
  if (made) head.push('new file mode 100644');
  else if (gone) head.push('deleted file mode 100644');
  else if (moved) head.push(`rename from ${from}`, `rename to ${to}`);
  const names: readonly [string, string] = [made ? '/dev/null' : `a/${from}`, gone ? '/dev/null' : `b/${to}`];
  if (before.binary || after.binary) return `${head.join('\n')}\nBinary files ${names[0]} and ${names[1]} differ\n`;
  const hunks = before.text === after.text ? '' : await hunksOf(before.text ?? '', after.text ?? '');
  return `${head.join('\n')}\n${hunks === '' ? '' : `--- ${names[0]}\n+++ ${names[1]}\n${hunks}`}`;
}

function isAbsent(side: DiffSide): boolean {
  return side.text === undefined && !side.binary;
}

async function hunksOf(before: string, after: string): Promise<string> {
  if (before === '' || after === '') return wholeHunk(before, after);
  const { structuredPatch } = await import('diff');
  const patch = structuredPatch('', '', before, after, undefined, undefined, { context: 3, maxEditLength: MAX_EDITS });
  if (!patch) return wholeHunk(before, after);
  return patch.hunks
    .map((hunk) => {
      const old = range(hunk.oldStart, hunk.oldLines);
      return `@@ -${old} +${range(hunk.newStart, hunk.newLines)} @@\n${hunk.lines.join('\n')}\n`;
    })
    .join('');
}

/** `diff` counts an empty side from the line after it, git from the line before. */
function range(start: number, lines: number): string {
  return lines === 1 ? `${start}` : `${start},${lines}`;
}

function wholeHunk(before: string, after: string): string {
  const [old, young] = [markedLines('-', before), markedLines('+', after)];
  const span = (count: number) => (count === 0 ? '0,0' : range(1, count));
  return `@@ -${span(old.count)} +${span(young.count)} @@\n${old.text}${young.text}`;
}

function markedLines(mark: string, text: string): { count: number; text: string } {
  if (text === '') return { count: 0, text: '' };
  const closed = text.endsWith('\n');
  const lines = (closed ? text.slice(0, -1) : text).split('\n');
  const shown = lines.map((line) => `${mark}${line}\n`).join('');
  return { count: lines.length, text: closed ? shown : `${shown}\\ No newline at end of file\n` };
}

function shownPath(path: string, cwd: string): string {
  const below = relative(cwd, path);
  if (below === '' || isAbsolute(below) || below === '..' || below.startsWith(`..${sep}`))
    return path.replace(/^\/+/, '');
  return below.split(sep).join('/');
}

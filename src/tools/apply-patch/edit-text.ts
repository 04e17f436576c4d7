/** Applies the chunks of one update to the text of one file. Pure. */
import { describeMismatch } from './describe-mismatch.js';
import type { PatchChunk, PatchLine } from './parse-patch.js';
import { PatchError } from './patch-error.js';
import { LineIndex } from './seek-lines.js';
import { joinText, splitText, type TextLine } from './text-file.js';

interface Edit {
  /** First line it replaces, and how many. */
  readonly at: number;
  readonly length: number;
  readonly lines: readonly PatchLine[];
}

/**
 * The text after all chunks. `path` is only for messages. Chunks are searched downwards: each begins where the one
 * before ended.
 * @throws PatchError `mismatch`; the message shows the missing lines and the nearest text.
 */
export function editText(content: string, chunks: readonly PatchChunk[], path: string): string {
  const original = splitText(content);
  const index = new LineIndex(original.map((line) => line.text));
  const edits: Edit[] = [];
  let cursor = 0;
  for (const [number, chunk] of chunks.entries()) {
    const place = { index, path, chunk, number: number + 1 };
    cursor = findScope(place, cursor);
    const edit = findEdit(place, cursor);
    edits.push(edit);
    if (edit.length > 0) cursor = edit.at + edit.length;
  }
  return joinText(applyEdits(original, edits, path), original);
}

interface Place {
  readonly index: LineIndex;
  readonly path: string;
  readonly chunk: PatchChunk;
  /** Which chunk of the file, from 1. */
  readonly number: number;
}

function findScope({ index, path, chunk, number }: Place, cursor: number): number {
  if (chunk.scope === undefined) return cursor;
  const found = index.find([chunk.scope], cursor, false);
  if (found !== undefined) return found + 1;
  const hint = describeMismatch({ index, block: [chunk.scope], cursor, atEnd: false });
  throw new PatchError(
    { kind: 'mismatch', path, line: chunk.line },
    `Failed to find context '${chunk.scope}' in ${path}\n${where(number, chunk)}; ${hint}`,
  );
}

function findEdit({ index, path, chunk, number }: Place, cursor: number): Edit {
  if (chunk.lines.every((line) => line.op === 'add'))
    return { at: insertionPoint(index, chunk, cursor), length: 0, lines: chunk.lines };
  const block = oldLines(chunk.lines);
  const at = index.find(block, cursor, chunk.endOfFile);
  if (at !== undefined) return { at, length: block.length, lines: chunk.lines };
  if (block.at(-1) === '') {
    const shorter = withoutLastBlank(chunk.lines);
    const again = index.find(block.slice(0, -1), cursor, chunk.endOfFile);
    if (again !== undefined) return { at: again, length: block.length - 1, lines: shorter };
  }
  const hint = describeMismatch({ index, block, cursor, atEnd: chunk.endOfFile });
  throw new PatchError(
    { kind: 'mismatch', path, line: chunk.line },
    `Failed to find expected lines in ${path}:\n${block.join('\n')}\n${where(number, chunk)}; ${hint}`,
  );
}

function where(number: number, chunk: PatchChunk): string {
  return `(chunk ${number} of this file, line ${chunk.line} of the patch`;
}

/** Pure additions go right below their scope line (Codex 0.171 puts them at the end of the file), else to the end. */
function insertionPoint(index: LineIndex, chunk: PatchChunk, cursor: number): number {
  return chunk.scope !== undefined && !chunk.endOfFile ? cursor : index.length;
}

function oldLines(lines: readonly PatchLine[]): string[] {
  return lines.filter((line) => line.op !== 'add').map((line) => line.text);
}

/**
 * The chunk without the blank line that ends its old block (models add one that the file does not have), and without
 * the blank line that ends its new block, if there is one.
 */
function withoutLastBlank(lines: readonly PatchLine[]): PatchLine[] {
  const rest = [...lines];
  const lastOld = rest.findLastIndex((line) => line.op !== 'add');
  if (rest[lastOld]!.op === 'context') rest[lastOld] = { op: 'add', text: '' };
  else rest.splice(lastOld, 1);
  const lastNew = rest.findLastIndex((line) => line.op !== 'remove');
  const ending = rest[lastNew];
  if (ending?.text !== '') return rest;
  if (ending.op === 'context') rest[lastNew] = { op: 'remove', text: '' };
  else rest.splice(lastNew, 1);
  return rest;
}

/** Context lines stay the file's own lines, whatever tolerance found them. */
function applyEdits(original: readonly TextLine[], edits: readonly Edit[], path: string): TextLine[] {
  const result: TextLine[] = [];
  let from = 0;
  // A stable sort: additions at one place keep the order of their chunks.
  for (const change of edits.flatMap(splitEdit).toSorted((a, b) => a.at - b.at)) {
    if (change.at < from) {
      throw new PatchError(
        { kind: 'mismatch', path, line: 0 },
        `Failed to find expected lines in ${path}: two chunks change the same line`,
      );
    }
    while (from < change.at) result.push(original[from++]!);
    for (const text of change.added) result.push({ text, end: undefined });
    from += change.removed;
  }
  while (from < original.length) result.push(original[from++]!);
  return result;
}

interface Change {
  readonly at: number;
  removed: number;
  readonly added: string[];
}

/** The changes between an edit's context lines. */
function splitEdit(edit: Edit): Change[] {
  const changes: Change[] = [];
  let at = edit.at;
  let open: Change | undefined;
  for (const line of edit.lines) {
    if (line.op === 'context') {
      at++;
      open = undefined;
      continue;
    }
    if (!open) changes.push((open = { at, removed: 0, added: [] }));
    if (line.op === 'add') open.added.push(line.text);
    else {
      open.removed++;
      at++;
    }
  }
  return changes;
}

/**
 * Text of a patch → hunks. Knows nothing about files.
 * Format and error texts: Codex 0.171 (`*** Begin Patch` … `*** End Patch`); its conformance cases pin them.
 */
import { PatchError } from './patch-error.js';
import { trim, trimEnd } from './white-space.js';

export interface PatchLine {
  readonly op: 'context' | 'remove' | 'add';
  readonly text: string;
}

/** One place of a file to change. */
export interface PatchChunk {
  /** Text behind `@@ `: a whole line that stands above the chunk. */
  readonly scope?: string;
  readonly lines: readonly PatchLine[];
  /** `*** End of File`: the block must end at the file's last line. */
  readonly endOfFile: boolean;
  /** Line of the patch where it begins, from 1. */
  readonly line: number;
}

/** What to do with one file. Paths are as written. `line` is the header's line in the patch, from 1. */
export type PatchHunk =
  | { readonly kind: 'add'; readonly path: string; readonly content: string; readonly line: number }
  | { readonly kind: 'delete'; readonly path: string; readonly line: number }
  | {
      readonly kind: 'update';
      readonly path: string;
      readonly movePath?: string;
      readonly chunks: readonly PatchChunk[];
      readonly line: number;
    };

export interface ParsedPatch {
  readonly hunks: readonly PatchHunk[];
  /** The patch without what stood around the envelope. */
  readonly text: string;
  /** `*** Environment ID: NAME`, when given. */
  readonly environmentId?: string;
}

const BEGIN = '*** Begin Patch';
const END = '*** End Patch';
const ADD = '*** Add File: ';
const DELETE = '*** Delete File: ';
const UPDATE = '*** Update File: ';
const MOVE = '*** Move to: ';
const END_OF_FILE = '*** End of File';
const NO_END = `The last line of the patch must be '${END}'`;
const ENVIRONMENT = '*** Environment ID:';

/** @throws PatchError `envelope` or `hunk`. An envelope without hunks is valid here; who applies it refuses it. */
export function parsePatch(text: string): ParsedPatch {
  const lines = findEnvelope(splitLines(trim(text)));
  const reader = new PatchReader();
  for (const line of lines.slice(0, -1)) reader.read(line);
  return reader.finish(lines.join('\n'));
}

/** Lines without their end; up to two CRs before LF belong to it, as in Codex 0.171. */
function splitLines(text: string): string[] {
  if (text === '') return [];
  return text.split('\n').map((line) => line.replace(/\r{1,2}$/, ''));
}

/** Accepts a here-document around the envelope, as some models write it (`<<EOF`, quoted or not; no other word). */
function findEnvelope(lines: readonly string[]): readonly string[] {
  const problem = envelopeProblem(lines);
  if (problem === undefined) return lines;
  const [first, last] = [lines[0], lines.at(-1)];
  const isHeredoc = first === '<<EOF' || first === "<<'EOF'" || first === '<<"EOF"';
  if (!isHeredoc || !last?.endsWith('EOF') || lines.length < 4) throw problem;
  const inner = lines.slice(1, -1);
  const innerProblem = envelopeProblem(inner);
  if (innerProblem) throw innerProblem;
  return inner;
}

function envelopeProblem(lines: readonly string[]): PatchError | undefined {
  const [first, last] = [lines[0], lines.at(-1)];
  if (first !== undefined && trim(first) !== BEGIN) {
    return new PatchError({ kind: 'envelope' }, `The first line of the patch must be '${BEGIN}'`);
  }
  if (last === undefined || trim(last) !== END) {
    return new PatchError({ kind: 'envelope' }, NO_END);
  }
  return undefined;
}

interface OpenChunk {
  scope?: string;
  lines: PatchLine[];
  endOfFile: boolean;
  line: number;
}
interface OpenUpdate {
  kind: 'update';
  path: string;
  movePath?: string;
  chunks: OpenChunk[];
  line: number;
}
type OpenHunk =
  | OpenUpdate
  | { kind: 'add'; path: string; content: string; line: number }
  | Extract<PatchHunk, { kind: 'delete' }>;

/** Reads line by line: which hunk is open decides what a line means. */
class PatchReader {
  readonly #hunks: OpenHunk[] = [];
  #line = 0;
  #ended = false;
  #environmentId: string | undefined;

  read(line: string): void {
    this.#line++;
    if (this.#line === 1) return; // `*** Begin Patch`, checked before
    if (this.#ended) {
      if (trim(line) !== '') throw new PatchError({ kind: 'envelope' }, NO_END);
      return;
    }
    const open = this.#hunks.at(-1);
    if (open?.kind === 'update') this.#readInUpdate(line, open);
    else this.#readOutside(line, open);
  }

  finish(text: string): ParsedPatch {
    // The envelope's last line was checked before. It may be indented, which inside an update means a context line.
    this.#line++;
    if (!this.#ended) this.#end();
    const environmentId = this.#environmentId === undefined ? {} : { environmentId: this.#environmentId };
    return { hunks: this.#hunks, text, ...environmentId };
  }

  #readOutside(line: string, open: OpenHunk | undefined): void {
    const marker = trim(line);
    if (open === undefined && marker.startsWith(ENVIRONMENT)) {
      this.#readEnvironment(marker);
      return;
    }
    if (this.#readHeader(marker)) return;
    if (open?.kind === 'add' && line.startsWith('+')) {
      open.content += `${line.slice(1)}\n`;
      return;
    }
    throw this.#error(
      `'${marker}' is not a valid hunk header. Valid hunk headers: '${ADD}{path}', '${DELETE}{path}', '${UPDATE}{path}'`,
    );
  }

  #readInUpdate(line: string, update: OpenUpdate): void {
    const marker = trimEnd(line);
    if (this.#readHeader(marker)) return;
    if (update.chunks.length === 0 && update.movePath === undefined && marker.startsWith(MOVE)) {
      update.movePath = marker.slice(MOVE.length);
      return;
    }
    const chunk = update.chunks.at(-1);
    if (marker === '@@' || marker.startsWith('@@ ')) {
      if (chunk?.lines.length === 0) throw this.#unexpected(line);
      update.chunks.push(this.#chunk(marker === '@@' ? undefined : marker.slice(3)));
    } else if (chunk?.endOfFile) {
      if (marker !== '') throw this.#needsScope(line);
    } else if (marker === END_OF_FILE) {
      if (chunk?.lines.length === 0) throw this.#error('Update hunk does not contain any lines');
      if (chunk) chunk.endOfFile = true;
    } else {
      this.#readChunkLine(line, update);
    }
  }

  #readChunkLine(line: string, update: OpenUpdate): void {
    const op = line === '' ? 'context' : OPS[line[0]!];
    if (op === undefined) {
      if ((update.chunks.at(-1)?.lines.length ?? 0) === 0) throw this.#unexpected(line);
      throw this.#needsScope(line);
    }
    if (update.chunks.length === 0) update.chunks.push(this.#chunk(undefined));
    update.chunks.at(-1)!.lines.push({ op, text: line.slice(1) });
  }

  #readHeader(marker: string): boolean {
    const line = this.#line;
    const path = (prefix: string) => marker.slice(prefix.length);
    if (marker === END) this.#end();
    else if (marker.startsWith(ADD)) this.#open({ kind: 'add', path: path(ADD), content: '', line }, marker);
    else if (marker.startsWith(DELETE)) this.#open({ kind: 'delete', path: path(DELETE), line }, marker);
    else if (marker.startsWith(UPDATE)) this.#open({ kind: 'update', path: path(UPDATE), chunks: [], line }, marker);
    else return false;
    return true;
  }

  #open(hunk: OpenHunk, marker: string): void {
    this.#closeUpdate(marker);
    this.#hunks.push(hunk);
  }

  #end(): void {
    this.#closeUpdate(END);
    this.#ended = true;
  }

  #closeUpdate(marker: string): void {
    const open = this.#hunks.at(-1);
    if (open?.kind !== 'update') return;
    if (open.chunks.length === 0) {
      throw new PatchError({ kind: 'hunk', line: open.line }, `Update file hunk for path '${open.path}' is empty`);
    }
    if (open.chunks.at(-1)!.lines.length > 0) return;
    throw marker === END ? this.#error('Update hunk does not contain any lines') : this.#unexpected(marker);
  }

  #readEnvironment(marker: string): void {
    const id = trim(marker.slice(ENVIRONMENT.length));
    if (id === '') throw new PatchError({ kind: 'envelope' }, 'apply_patch environment_id cannot be empty');
    if (this.#environmentId !== undefined) {
      throw new PatchError({ kind: 'envelope' }, 'apply_patch environment_id cannot be specified more than once');
    }
    this.#environmentId = id;
  }

  #chunk(scope: string | undefined): OpenChunk {
    return { ...(scope === undefined ? {} : { scope }), lines: [], endOfFile: false, line: this.#line };
  }

  #needsScope(line: string): PatchError {
    return this.#error(`Expected update hunk to start with a @@ context marker, got: '${line}'`);
  }

  #unexpected(line: string): PatchError {
    return this.#error(
      `Unexpected line found in update hunk: '${line}'. Every line should start with ' ' (context line), '+' (added line), or '-' (removed line)`,
    );
  }

  #error(message: string): PatchError {
    return new PatchError({ kind: 'hunk', line: this.#line }, message);
  }
}

const OPS: Readonly<Record<string, PatchLine['op']>> = { ' ': 'context', '-': 'remove', '+': 'add' };

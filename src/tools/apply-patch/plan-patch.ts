/**
 * Patch + files → what will be written. All hunks are tried in order against an overlay in memory, so a patch that
 * fails anywhere has written nothing, and a later hunk sees what an earlier one did.
 */
import { dirname, resolve } from 'node:path';
import { assertNever } from '../../protocol/index.js';
import { editText } from './edit-text.js';
import { Overlay, type PlannedEntry } from './overlay.js';
import type { ParsedPatch, PatchHunk } from './parse-patch.js';
import { PatchError, systemReason } from './patch-error.js';
import { decodeUtf8, diskFiles, invalidUtf8At, type PatchFiles } from './patch-files.js';

/** One entry to write, replace or remove. Paths are canonical: no link is on the way, and none may be. */
export interface PatchStep {
  readonly path: string;
  readonly before: PlannedEntry;
  readonly after: PlannedEntry;
}

/** One hunk as it came out. Paths are absolute, as a person names them (links not followed). */
export interface HunkResult {
  readonly kind: PatchHunk['kind'];
  readonly path: string;
  readonly movePath?: string;
  /** Undefined: there was no file, or it cannot be shown. */
  readonly before: string | undefined;
  /** There was a file that is not text, or too large to show. */
  readonly binaryBefore: boolean;
  readonly after: string | undefined;
}

export interface PatchPlan {
  readonly patch: ParsedPatch;
  readonly cwd: string;
  /** Net effect per entry; entries that end as they began are left out. */
  readonly steps: readonly PatchStep[];
  readonly results: readonly HunkResult[];
  /** Canonical places of everything a hunk names for writing, sorted. Policy judges these, locks hold these. */
  readonly targets: readonly string[];
  /** `Success. Updated the following files:` and one line per hunk. */
  readonly summary: string;
}

/** Deleted files up to this size are read, so that the diff can show them. */
const MAX_SHOWN_BYTES = 1024 * 1024;

/**
 * @param cwd absolute; relative paths of the patch start here.
 * @throws PatchError for the first hunk that cannot be done, or `empty`.
 */
export async function planPatch(patch: ParsedPatch, cwd: string, files: PatchFiles = diskFiles): Promise<PatchPlan> {
  if (patch.hunks.length === 0) throw new PatchError({ kind: 'empty' }, 'No files were modified.');
  const planner = new Planner(cwd, new Overlay(files));
  const results: HunkResult[] = [];
  for (const hunk of patch.hunks) results.push(await planner.run(hunk));
  return {
    patch,
    cwd,
    steps: [...planner.overlay.touched()].filter(
      (step) => step.after.kind !== 'directory' && !isSame(step.before, step.after),
    ),
    results,
    targets: [...planner.targets].sort(),
    summary: summarise(patch.hunks),
  };
}

/**
 * Canonical places of everything the patch names for writing, sorted, without reading a file. What `planPatch` tells as
 * `targets`, for a patch whose files do not fit yet.
 */
export function patchTargets(patch: ParsedPatch, cwd: string, files: PatchFiles = diskFiles): readonly string[] {
  const overlay = new Overlay(files);
  const targets = new Set<string>();
  for (const hunk of patch.hunks) {
    const path = resolve(cwd, hunk.path);
    const leads = (to: string) =>
      attempt(
        () => overlay.target(to),
        (error) =>
          new PatchError({ kind: 'write', path: to }, `Failed to write file ${to}: ${systemReason(error)}`, error),
      );
    if (hunk.kind === 'delete') targets.add(overlay.place(path));
    else targets.add(leads(path));
    if (hunk.kind !== 'update' || hunk.movePath === undefined) continue;
    targets.add(leads(resolve(cwd, hunk.movePath)));
    targets.add(overlay.place(path));
  }
  return [...targets].sort();
}

class Planner {
  readonly overlay: Overlay;
  readonly targets = new Set<string>();
  readonly #cwd: string;

  constructor(cwd: string, overlay: Overlay) {
    this.#cwd = cwd;
    this.overlay = overlay;
  }

  run(hunk: PatchHunk): Promise<HunkResult> {
    switch (hunk.kind) {
      case 'add':
        return this.#add(hunk);
      case 'delete':
        return this.#delete(hunk);
      case 'update':
        return this.#update(hunk);
      default:
        return assertNever(hunk);
    }
  }

  async #add(hunk: Extract<PatchHunk, { kind: 'add' }>): Promise<HunkResult> {
    const path = resolve(this.#cwd, hunk.path);
    const before = await this.#write(path, Buffer.from(hunk.content), undefined);
    const text = before && decodeUtf8(before);
    const binaryBefore = before !== undefined && text === undefined;
    return { kind: 'add', path, before: text, binaryBefore, after: hunk.content };
  }

  async #delete(hunk: Extract<PatchHunk, { kind: 'delete' }>): Promise<HunkResult> {
    const path = resolve(this.#cwd, hunk.path);
    const fail = (reason: string) =>
      new PatchError({ kind: 'delete', path }, `Failed to delete file ${path}: ${reason}`);
    const place = attempt(
      () => this.overlay.place(path),
      (error) => fail(systemReason(error)),
    );
    const entry = attempt(
      () => this.overlay.look(place),
      (error) => fail(systemReason(error)),
    );
    if (entry.kind === 'missing') throw fail(REASON_MISSING);
    this.#requireFile(path, fail);
    const before = await this.#shownText(entry, place, path);
    this.overlay.set(place, { kind: 'missing' });
    this.targets.add(place);
    return { kind: 'delete', path, before, binaryBefore: before === undefined, after: undefined };
  }

  async #update(hunk: Extract<PatchHunk, { kind: 'update' }>): Promise<HunkResult> {
    const path = resolve(this.#cwd, hunk.path);
    const { place, mode, text: before } = await this.#load(path);
    const after = editText(before, hunk.chunks, path);
    const bytes = Buffer.from(after);
    const movePath = hunk.movePath === undefined ? undefined : resolve(this.#cwd, hunk.movePath);
    if (movePath === undefined || this.#leadsTo(movePath, place)) {
      // Moving a file onto itself is a plain update (Codex 0.171 loses the file).
      await this.#write(path, bytes, mode);
      return { kind: 'update', path, before, binaryBefore: false, after };
    }
    await this.#write(movePath, bytes, mode);
    const source = this.overlay.place(path); // a link is removed itself, what it leads to stays
    this.overlay.set(source, { kind: 'missing' });
    this.targets.add(source);
    return { kind: 'update', path, movePath, before, binaryBefore: false, after };
  }

  async #load(path: string): Promise<{ place: string; mode: number | undefined; text: string }> {
    const fail = (reason: string, cause?: unknown) =>
      new PatchError({ kind: 'read', path }, `Failed to read file to update ${path}: ${reason}`, cause);
    const place = attempt(
      () => this.overlay.target(path),
      (error) => fail(systemReason(error), error),
    );
    const entry = attempt(
      () => this.overlay.look(place),
      (error) => fail(systemReason(error), error),
    );
    if (entry.kind === 'missing') throw fail(REASON_MISSING);
    if (entry.kind !== 'file') throw fail(`path \`${path}\` is not a file`);
    const bytes = await this.#read(place, path);
    const text = decodeUtf8(bytes);
    if (text === undefined)
      throw fail(`invalid utf-8 sequence at byte ${invalidUtf8At(bytes)}; only text files can be updated`);
    return { place, mode: entry.mode, text };
  }

  /** A link is deleted by itself, but only one that leads to a file (as Codex 0.171 has it). */
  #requireFile(path: string, fail: (reason: string) => PatchError): void {
    const end = attempt(
      () => this.overlay.look(this.overlay.target(path)),
      (error) => fail(systemReason(error)),
    );
    if (end.kind === 'missing') throw fail('the link leads nowhere');
    if (end.kind === 'directory') throw fail('it is a directory');
  }

  /** Links show where they lead. */
  async #shownText(entry: PlannedEntry, place: string, path: string): Promise<string | undefined> {
    if (entry.kind === 'link') return entry.target;
    if (entry.kind !== 'file' || entry.size > MAX_SHOWN_BYTES) return undefined;
    return decodeUtf8(await this.#read(place, path));
  }

  async #read(place: string, path: string): Promise<Buffer> {
    try {
      return await this.overlay.read(place);
    } catch (error) {
      throw new PatchError(
        { kind: 'read', path },
        `Failed to read file to update ${path}: ${systemReason(error)}`,
        error,
      );
    }
  }

  /**
   * Links are followed. `mode` undefined keeps the mode of the file that is there. Returns what was there, which an
   * undo would need.
   */
  async #write(path: string, bytes: Buffer, mode: number | undefined): Promise<Buffer | undefined> {
    const fail = (reason: string, cause?: unknown) =>
      new PatchError({ kind: 'write', path }, `Failed to write file ${path}: ${reason}`, cause);
    const place = attempt(
      () => this.overlay.target(path),
      (error) => fail(systemReason(error), error),
    );
    const entry = attempt(
      () => this.overlay.look(place),
      (error) => fail(systemReason(error), error),
    );
    if (entry.kind === 'directory') throw fail('it is a directory');
    if (entry.kind === 'other') throw fail('it is not a regular file');
    if (entry.kind === 'missing') this.#ensureParents(place, fail);
    const before = entry.kind === 'file' ? await this.#read(place, path) : undefined;
    const kept = mode ?? (entry.kind === 'file' ? entry.mode : undefined);
    this.overlay.set(place, { kind: 'file', mode: kept, size: bytes.length, bytes });
    this.targets.add(place);
    return before;
  }

  #ensureParents(place: string, fail: (reason: string) => PatchError): void {
    const parent = dirname(place);
    const entry = attempt(
      () => this.overlay.look(parent),
      (error) => fail(systemReason(error)),
    );
    if (entry.kind === 'directory') return;
    if (entry.kind !== 'missing') throw fail(`${parent} is not a directory`);
    this.#ensureParents(parent, fail);
    this.overlay.set(parent, { kind: 'directory' });
  }

  #leadsTo(path: string, place: string): boolean {
    try {
      return this.overlay.target(path) === place;
    } catch {
      return false; // writing there fails with a proper message
    }
  }
}

const REASON_MISSING = 'No such file or directory (os error 2)';

function attempt<T>(action: () => T, wrap: (error: unknown) => PatchError): T {
  try {
    return action();
  } catch (error) {
    throw wrap(error);
  }
}

function isSame(a: PlannedEntry, b: PlannedEntry): boolean {
  if (a.kind === 'file' && b.kind === 'file') {
    return a === b || (a.mode === b.mode && a.bytes !== undefined && b.bytes !== undefined && a.bytes.equals(b.bytes));
  }
  if (a.kind === 'link' && b.kind === 'link') return a.target === b.target;
  return a.kind === b.kind;
}

/** Grouped A, M, D; each group in the patch's order, paths as written. A moved file is named by its new path. */
function summarise(hunks: readonly PatchHunk[]): string {
  const lines = (kind: PatchHunk['kind'], letter: string) =>
    hunks
      .filter((hunk) => hunk.kind === kind)
      .map((hunk) => `${letter} ${hunk.kind === 'update' ? (hunk.movePath ?? hunk.path) : hunk.path}\n`);
  return [
    'Success. Updated the following files:\n',
    ...lines('add', 'A'),
    ...lines('update', 'M'),
    ...lines('delete', 'D'),
  ].join('');
}

/** Everything that can be wrong with a patch. One class; `problem` says which kind, so that nobody parses a message. */
import { TurnwrightError } from '../../protocol/index.js';

export type PatchProblem =
  /** The envelope: first or last line, environment id. */
  | { readonly kind: 'envelope' }
  /** A line inside the envelope. `line` counts from 1 at `*** Begin Patch`. */
  | { readonly kind: 'hunk'; readonly line: number }
  /** The patch is well formed and holds no hunk. */
  | { readonly kind: 'empty' }
  /** A scope line or a block of lines is not where the patch says. `line` is the patch line of the chunk. */
  | { readonly kind: 'mismatch'; readonly path: string; readonly line: number }
  | { readonly kind: 'read' | 'write' | 'delete'; readonly path: string }
  /** A write failed, and what was written before could not be put back. */
  | { readonly kind: 'halfDone'; readonly path: string }
  /** The files changed after the patch was checked. */
  | { readonly kind: 'stale'; readonly path: string };

export class PatchError extends TurnwrightError {
  readonly problem: PatchProblem;

  constructor(problem: PatchProblem, message: string, cause?: unknown) {
    super('TW_PATCH', message, { facts: problem, ...(cause === undefined ? {} : { cause }) });
    this.problem = problem;
  }
}

/** The error as one text for a terminal or a model: Codex 0.171's first words, then our details. */
export function renderPatchError(error: PatchError): string {
  switch (error.problem.kind) {
    case 'envelope':
      return `Invalid patch: ${error.message}`;
    case 'hunk':
      return `Invalid patch hunk on line ${error.problem.line}: ${error.message}`;
    default:
      return error.message;
  }
}

/** What the system said about a file, in the words of the platform. */
export function systemReason(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  const known = code === undefined ? undefined : REASONS[code];
  return known ?? (error instanceof Error ? error.message : String(error));
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'No such file or directory (os error 2)',
  EACCES: 'Permission denied (os error 13)',
  EPERM: 'Operation not permitted (os error 1)',
  EISDIR: 'Is a directory (os error 21)',
  ENOTDIR: 'Not a directory (os error 20)',
  ENOSPC: 'No space left on device (os error 28)',
  EROFS: 'Read-only file system (os error 30)',
  ELOOP: 'Too many levels of symbolic links (os error 40)',
  ENAMETOOLONG: 'File name too long (os error 36)',
};

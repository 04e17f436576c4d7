/** The one sentence for "we cannot write here". */
import { TurnwrightError } from '../protocol/index.js';

const REASONS: Readonly<Record<string, string>> = {
  EROFS: 'the file system is read-only',
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ENOTDIR: 'a parent is not a folder',
};

export function homeWriteError(path: string, cause: unknown): TurnwrightError {
  const code = (cause as NodeJS.ErrnoException).code ?? String(cause);
  const remedy =
    code === 'ENOSPC' || code === 'EDQUOT'
      ? 'free some space'
      : 'make it writable, or set TURNWRIGHT_HOME to a folder that is';
  return new TurnwrightError(
    'TW_HOME_WRITE',
    `cannot write ${path}: ${REASONS[code] ?? code}; ${remedy}. To run without saving the thread, use --ephemeral`,
    { facts: { path, code }, cause },
  );
}

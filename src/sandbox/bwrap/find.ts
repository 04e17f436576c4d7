/** Finds the bubblewrap to trust: never one that a command could have written. */
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { isWithin } from '../paths.js';

/** The path Ubuntu's AppArmor profile is attached to; a copy elsewhere may be refused user namespaces. */
const PREFERRED = '/usr/bin/bwrap';

/** First executable `bwrap` of `searchPath` whose real path lies outside every directory of `distrusted`. */
export function findBwrap(searchPath: string, distrusted: readonly string[]): string | undefined {
  const listed = searchPath.split(delimiter).includes(dirname(PREFERRED));
  return findProgram('bwrap', listed ? `${dirname(PREFERRED)}${delimiter}${searchPath}` : searchPath, distrusted);
}

export function findProgram(name: string, searchPath: string, distrusted: readonly string[]): string | undefined {
  const candidates = searchPath
    .split(delimiter)
    .filter(isAbsolute)
    .map((place) => join(place, name));
  return candidates.find((path) => isExecutable(path) && isTrusted(realpathSync(path), distrusted));
}

/** `/` is never a writable root, so working there says nothing; and what only root can write, no command has written. */
function isTrusted(path: string, distrusted: readonly string[]): boolean {
  const found = statSync(path);
  const rootOnly = process.getuid?.() !== 0 && found.uid === 0 && (found.mode & 0o022) === 0;
  return rootOnly || !distrusted.some((root) => root !== '/' && isWithin(path, root));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

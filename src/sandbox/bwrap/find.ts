/** Finds the bubblewrap to trust: never one that a command could have written. */
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { isWithin } from '../paths.js';

/** The path Ubuntu's AppArmor profile is attached to; a copy elsewhere may be refused user namespaces. */
const PREFERRED = '/usr/bin/bwrap';

/** First executable `bwrap` of `searchPath` whose real path lies outside every directory of `distrusted`. */
export function findBwrap(searchPath: string, distrusted: readonly string[]): string | undefined {
  const places = searchPath.split(delimiter).filter(isAbsolute);
  const candidates = places.map((place) => join(place, 'bwrap'));
  const ordered = candidates.includes(PREFERRED) ? [PREFERRED, ...candidates] : candidates;
  return ordered.find((path) => isExecutable(path) && !distrusted.some((root) => isWithin(realpathSync(path), root)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

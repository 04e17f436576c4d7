/** Questions about absolute, normalised paths. Pure. */
import { dirname, sep } from 'node:path';

/** True when `path` is `ancestor` or lies below it. */
export function isWithin(path: string, ancestor: string): boolean {
  return path === ancestor || isBelow(path, ancestor);
}

/** True when `path` lies strictly below `ancestor`. */
export function isBelow(path: string, ancestor: string): boolean {
  return path !== ancestor && path.startsWith(ancestor === sep ? sep : ancestor + sep);
}

/** `/a/b/c` → `['/', '/a', '/a/b']`, shallow first. */
export function ancestors(path: string): string[] {
  const found: string[] = [];
  for (let at = dirname(path); ; at = dirname(at)) {
    found.unshift(at);
    if (at === dirname(at)) return found;
  }
}

/** Number of components: 0 for `/`. */
export function depth(path: string): number {
  return path === sep ? 0 : path.split(sep).length - 1;
}

/**
 * Trimming as the patch format means it: Unicode `White_Space`. JavaScript's own `trim` differs in two characters; it
 * also removes U+FEFF, which would make a byte order mark invisible to matching.
 */
const LEADING = /^\p{White_Space}+/u;
const TRAILING = /\p{White_Space}+$/u;

export function trimStart(text: string): string {
  return text.replace(LEADING, '');
}

export function trimEnd(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  // Printable ASCII at the end: nothing to trim. Keeps the regular expression off the common path.
  if (last > 0x20 && last < 0x7f) return text;
  return text.replace(TRAILING, '');
}

export function trim(text: string): string {
  return trimStart(trimEnd(text));
}

/**
 * A small language for what configuration may hold. The same description checks a value, names what is allowed and
 * knows which keys exist, so a typo can be answered with the nearest known key.
 */
export type Shape =
  | { readonly kind: 'string' }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'integer'; readonly min: number }
  /** Any number greater than `above`, fractions too. */
  | { readonly kind: 'number'; readonly above: number }
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'strings' }
  /** A table with these keys. */
  | { readonly kind: 'table'; readonly keys: Readonly<Record<string, Shape>> }
  /** A table with names of the user's choice. */
  | { readonly kind: 'map'; readonly of: Shape }
  | { readonly kind: 'either'; readonly of: readonly Shape[] }
  /** Checked elsewhere, or kept for other programs. */
  | { readonly kind: 'raw' };

export type Problem =
  | { readonly kind: 'value'; readonly path: readonly string[]; readonly got: unknown; readonly allowed: string }
  | { readonly kind: 'unknown'; readonly path: readonly string[]; readonly nearest?: string };

/** Everything that is wrong with `value`, in key order. */
export function checkShape(value: unknown, shape: Shape, path: readonly string[] = []): Problem[] {
  const wrong = (): Problem[] => [{ kind: 'value', path, got: value, allowed: describe(shape) }];
  switch (shape.kind) {
    case 'raw':
      return [];
    case 'table':
      if (!isTable(value)) return wrong();
      return Object.entries(value).flatMap(([key, inner]) => {
        const known = Object.hasOwn(shape.keys, key) ? shape.keys[key] : undefined;
        return known ? checkShape(inner, known, [...path, key]) : [unknownKey([...path, key], Object.keys(shape.keys))];
      });
    case 'map':
      if (!isTable(value)) return wrong();
      return Object.entries(value).flatMap(([key, inner]) => checkShape(inner, shape.of, [...path, key]));
    case 'either':
      return checkEither(value, shape.of, path) ?? wrong();
    default:
      return fits(value, shape) ? [] : wrong();
  }
}

export function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** A table's problems are worth more than "not one of these": a table is judged by the table alternative. */
function checkEither(value: unknown, shapes: readonly Shape[], path: readonly string[]): Problem[] | undefined {
  for (const shape of shapes) {
    const problems = checkShape(value, shape, path);
    if (problems.length === 0) return problems;
    if (isTable(value) && (shape.kind === 'table' || shape.kind === 'map')) return problems;
  }
  return undefined;
}

function fits(value: unknown, shape: Shape): boolean {
  switch (shape.kind) {
    case 'string':
      return typeof value === 'string';
    case 'boolean':
      return typeof value === 'boolean';
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value) && value >= shape.min;
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) && value > shape.above;
    case 'words':
      return typeof value === 'string' && shape.words.includes(value);
    case 'strings':
      return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
    default:
      return false;
  }
}

function describe(shape: Shape): string {
  switch (shape.kind) {
    case 'string':
      return 'a string';
    case 'boolean':
      return 'true or false';
    case 'integer':
      return `a whole number of at least ${shape.min}`;
    case 'number':
      return `a number greater than ${shape.above}`;
    case 'words':
      return `one of ${shape.words.join(', ')}`;
    case 'strings':
      return 'a list of strings';
    case 'either':
      return shape.of.map(describe).join(', or ');
    case 'table':
      return `a table with ${Object.keys(shape.keys).join(', ')}`;
    default:
      return 'a table';
  }
}

function unknownKey(path: readonly string[], known: readonly string[]): Problem {
  const nearest = nearestWord(path.at(-1) ?? '', known);
  return { kind: 'unknown', path, ...(nearest === undefined ? {} : { nearest }) };
}

/** The known word a typo most likely means, if one is close enough. */
export function nearestWord(typed: string, known: readonly string[]): string | undefined {
  let best: { word: string; distance: number } | undefined;
  for (const word of known) {
    const distance = editDistance(typed, word);
    if (!best || distance < best.distance) best = { word, distance };
  }
  return best && best.distance <= Math.max(1, Math.floor(typed.length / 3)) ? best.word : undefined;
}

/** Insertions, deletions, replacements and swapped neighbours, each counted as one. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? before[j - 2]! + 1 : replaced;
      next.push(Math.min(replaced, swapped, row[j]! + 1, next[j - 1]! + 1));
    }
    before = row;
    row = next;
  }
  return row[b.length]!;
}

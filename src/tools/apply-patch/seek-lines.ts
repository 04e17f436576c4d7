/** Finds a block of lines in a file, strictly first, then with growing tolerance for what models get wrong. */
import { trim, trimEnd } from './white-space.js';

/**
 * The tolerances, each tried over the whole rest of the file before the next: exact; white space at the line's end;
 * at both ends; typographic characters. Case and white space inside a line are never tolerated.
 */
const LEVELS: readonly ((line: string) => string)[] = [(line) => line, trimEnd, trim, (line) => plain(trim(line))];

/** The lines of one file, ready to be searched many times. */
export class LineIndex {
  readonly #levels: (readonly string[] | undefined)[];

  constructor(lines: readonly string[]) {
    this.#levels = [lines];
  }

  get length(): number {
    return this.#levels[0]!.length;
  }

  line(index: number): string | undefined {
    return this.#levels[0]![index];
  }

  /**
   * Index of the first place at or after `from` where `block` stands; with `atEnd` only the place that ends with the
   * file's last line counts. An empty block stands everywhere.
   */
  find(block: readonly string[], from: number, atEnd: boolean): number | undefined {
    if (block.length === 0) return from;
    const last = this.length - block.length;
    const first = atEnd ? Math.max(from, last) : from;
    for (let level = 0; level < LEVELS.length; level++) {
      const wanted = block.map(LEVELS[level]!);
      const lines = this.#level(level);
      for (let at = first; at <= last; at++) {
        if (standsAt(lines, wanted, at)) return at;
      }
    }
    return undefined;
  }

  #level(level: number): readonly string[] {
    return (this.#levels[level] ??= this.#levels[0]!.map(LEVELS[level]!));
  }
}

function standsAt(lines: readonly string[], wanted: readonly string[], at: number): boolean {
  for (let i = 0; i < wanted.length; i++) if (lines[at + i] !== wanted[i]) return false;
  return true;
}

const DASHES = /[\u2010-\u2015\u2212]/g;
const SINGLE_QUOTES = /[\u2018-\u201b]/g;
const DOUBLE_QUOTES = /[\u201c-\u201f]/g;
const SPACES = /[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g;

/** The same text with plain ASCII dashes, quotes and spaces. */
function plain(text: string): string {
  return text.replace(DASHES, '-').replace(SINGLE_QUOTES, "'").replace(DOUBLE_QUOTES, '"').replace(SPACES, ' ');
}

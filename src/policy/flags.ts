/** Reading options of a command line, for tables that say "with this flag". */
import type { SegmentWord } from './lower/segment.js';

/**
 * Does an option occur before `--`? `-f` is also found inside a cluster (`-rf`), `--force` also as `--force=x` and, when
 * `abbreviated`, as a shortened `--forc`.
 */
export function hasFlag(words: readonly SegmentWord[], ...flags: readonly string[]): boolean {
  for (const word of words.slice(1)) {
    if (word === '--') return false;
    if (typeof word === 'string' && word.startsWith('-') && flags.some((flag) => isFlag(word, flag))) return true;
  }
  return false;
}

function isFlag(word: string, flag: string): boolean {
  if (word === flag) return true;
  if (flag.startsWith('--')) return word.startsWith(`${flag}=`);
  // Single-dash words of more than one letter (`-delete`) are compared whole only.
  return flag.length === 2 && /^-[A-Za-z0-9]/.test(word) && !word.startsWith('--') && word.slice(1).includes(flag[1]!);
}

/** Words that are no options. After `--` everything is. */
export function operands(words: readonly SegmentWord[]): readonly SegmentWord[] {
  const out: SegmentWord[] = [];
  let ended = false;
  for (const word of words.slice(1)) {
    if (!ended && word === '--') ended = true;
    else if (ended || typeof word !== 'string' || !word.startsWith('-') || word === '-') out.push(word);
  }
  return out;
}

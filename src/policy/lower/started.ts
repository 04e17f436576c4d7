/** What a command starts, and what it does to the commands after it. */
import { type SegmentWord, UnknownWord } from './segment.js';

export type Started =
  | { readonly kind: 'argv'; readonly words: readonly SegmentWord[]; readonly taint?: string }
  | {
      readonly kind: 'script';
      readonly text: string;
      readonly shell: string;
      /** Running the launcher is running this script and nothing else. */
      readonly transparent: boolean;
      /** It runs in the calling shell and can change what later commands mean. */
      readonly here: boolean;
    }
  | { readonly kind: 'unknown'; readonly why: string }
  /** A variable or name that later commands must not trust. `*` is everything. */
  | { readonly kind: 'poison'; readonly name: string }
  | { readonly kind: 'shadow'; readonly name: string };

/** Words that are added at run time. */
export const ANY = new UnknownWord('…', true);

/** A path that names a pipe or a descriptor rather than a file. */
export const STREAM = /^\/(dev|proc)\//;

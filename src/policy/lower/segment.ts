/** What a command line comes to: the commands it can start, and what else it does. */

/** A word whose text is known only when the script runs. */
export class UnknownWord {
  /** As written. */
  readonly text: string;
  /** It may become no word, or several; otherwise exactly one. */
  readonly many: boolean;
  constructor(text: string, many: boolean) {
    this.text = text;
    this.many = many;
  }
}

export type SegmentWord = string | UnknownWord;

/** How a segment comes to run. */
export type SegmentVia =
  /** It stands in the script. */
  | 'script'
  /** A launcher starts it (`env`, `timeout`, `xargs`, …). */
  | 'launcher'
  /** It stands in a text that the parent runs as a script (`bash -c`, `eval`, `trap`, …). */
  | 'inner-script';

/** One command that can run. */
export interface Segment {
  readonly words: readonly SegmentWord[];
  /** The words, when every one of them is known. */
  readonly argv: readonly string[] | undefined;
  readonly via: SegmentVia;
  /** Index of the segment that starts this one. */
  readonly parent: number | undefined;
  /** Running it is running its children and nothing else (`bash -c 'literal script'`). */
  readonly transparent: boolean;
  /** A quoted or escaped name, an assignment, a redirection: beyond the plain subset. */
  readonly plain: boolean;
  /** Why a rule may not grant it, though its words match: poisoned environment, shadowed name. */
  readonly taint: string | undefined;
  /** The poison came from an earlier command of the script, not from the command's own assignments. */
  readonly carried: boolean;
  /** The words came through unescaped text, as older programs see them; decides the recorded `rm -f` question. */
  readonly unescaped: boolean;
}

/** A file a redirection opens. `path` is absolute, or undefined when it is known only at run time. */
export interface FileEffect {
  readonly kind: 'read' | 'write';
  readonly path: string | undefined;
  /** As written. */
  readonly text: string;
}

export interface Lowered {
  readonly argv: readonly string[];
  /** The script, when the argv is a shell with `-c`. */
  readonly script: string | undefined;
  /** Only simple commands of literal words joined by `&&`, `||`, `;`, `|` and newlines: what an allow rule may free of the sandbox. */
  readonly plain: boolean;
  readonly segments: readonly Segment[];
  readonly effects: readonly FileEffect[];
  /** Why more may run than the segments say: one short phrase each. Empty when everything is understood. */
  readonly unknown: readonly string[];
  /** More launchers inside each other than anyone needs. */
  readonly tooNested: boolean;
}

export const MAX_SCRIPT_LENGTH = 1_000_000;
export const MAX_SEGMENTS = 20_000;
/** Launchers and inner scripts inside each other. Codex 0.171: beyond 8 a command counts as dangerous. */
export const MAX_NESTING = 8;

/** Text of a word for a person. */
export function wordText(word: SegmentWord): string {
  return typeof word === 'string' ? word : word.text;
}

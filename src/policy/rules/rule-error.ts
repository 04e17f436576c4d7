import { TurnwrightError } from '../../protocol/index.js';

/**
 * Kinds of mistake in a rules file. The words are those of the recorded corpus (Codex 0.171), plus `limit` for the
 * caps that keep a hostile file from taking the machine and `read_error` for a file that cannot be read.
 */
export type RuleErrorKind =
  | 'read_error'
  | 'syntax'
  | 'unknown_name'
  | 'unknown_argument'
  | 'missing_argument'
  | 'type_error'
  | 'invalid_decision'
  | 'invalid_pattern'
  | 'invalid_example'
  | 'invalid_rule'
  | 'example_did_match'
  | 'example_did_not_match'
  | 'load_unsupported'
  | 'recursion'
  | 'fail_called'
  | 'runtime_error'
  | 'limit';

/** Where in a file: `line` and `column` count from 1, `offset` from 0 in UTF-16 units. */
export interface SourcePosition {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A rules file that cannot be used. The message reads `file:line:column: kind: what is wrong`. */
export class RulesError extends TurnwrightError {
  readonly kind: RuleErrorKind;
  readonly at: SourcePosition;
  /** The sentence without its position. */
  readonly detail: string;
  /** The line of the file the position points at, when there is one. */
  readonly sourceLine: string | undefined;
  /** Examples the message is about, shell-quoted. */
  readonly examples: readonly string[];

  constructor(
    kind: RuleErrorKind,
    detail: string,
    at: SourcePosition,
    more: { readonly sourceLine?: string; readonly examples?: readonly string[] } = {},
  ) {
    super('TW_RULES_PARSE', `${at.file}:${at.line}:${at.column}: ${kind}: ${detail}`, {
      facts: { kind, file: at.file, line: at.line, column: at.column },
    });
    this.name = 'RulesError';
    this.kind = kind;
    this.at = at;
    this.detail = detail;
    this.sourceLine = more.sourceLine;
    this.examples = more.examples ?? [];
  }
}

/** A mistake whose place is known only as an offset; the file's reader turns it into a `RulesError`. */
export class Mistake extends Error {
  readonly kind: RuleErrorKind;
  /** Offset in the text, or undefined where the nearest call decides. */
  offset: number | undefined;

  constructor(kind: RuleErrorKind, message: string, offset?: number) {
    super(message);
    this.kind = kind;
    this.offset = offset;
  }
}

/** Line and column of an offset. A text of n lines has positions on lines 1 to n; the end counts to the last line. */
export function positionOf(file: string, text: string, offset: number): SourcePosition {
  let line = 1;
  let start = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) {
    line++;
    start = at + 1;
  }
  return { file, line, column: Math.max(1, offset - start + 1) };
}

/** The text of one line, counted from 1. */
export function lineText(text: string, line: number): string {
  return (text.split('\n')[line - 1] ?? '').replace(/\r$/, '');
}

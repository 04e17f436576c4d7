/** A parsed shell word to its text, or to "known only at run time". */
import type { Word, WordPart } from 'unbash';
import { type SegmentWord, UnknownWord } from './segment.js';

/** `sh` is any POSIX shell without bash's additions; what reads differently there is reported. */
export type Dialect = 'bash' | 'sh';

export interface WordReading {
  readonly word: SegmentWord;
  /** The name stands without backslash or `$'…'`: the spelling that older programs recognise. */
  readonly unescaped: boolean;
  /** The parser may have read it differently from the shell. */
  readonly doubtful: string | undefined;
}

export function readWord(word: Word, dialect: Dialect): WordReading {
  const reader = new WordReader(dialect);
  reader.read(word);
  const doubtful = reader.doubtful ?? (/[\0\r]/.test(word.text) ? 'a word holds a control character' : undefined);
  const value = reader.unknown ? new UnknownWord(word.text, reader.many) : reader.text;
  return { word: value, unescaped: reader.unescaped, doubtful };
}

/** Characters that cannot be part of a word without quotes. Seeing one means that the shell would split it. */
const SPLITS = new Set([...'<>()&|;`"\' \t\n']);

class WordReader {
  text = '';
  unknown = false;
  many = false;
  unescaped = true;
  doubtful: string | undefined;
  readonly #dialect: Dialect;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  read(word: Word): void {
    if (word.parts === undefined) this.#literal(word.text, word.value, true);
    else for (const [i, part] of word.parts.entries()) this.#part(part, i === 0);
  }

  #expands(many: boolean): void {
    this.unknown = true;
    this.many ||= many;
  }

  #doubt(why: string): void {
    this.doubtful ??= why;
  }

  #literal(source: string, value: string, first: boolean): void {
    for (let at = 0; at < source.length; at++) {
      const char = source[at]!;
      if (char === '\\') {
        if (source[at + 1] !== '\n') this.unescaped = false;
        at++;
      } else if (SPLITS.has(char)) this.#doubt('a word is split differently by the shell');
    }
    if ((first && source.startsWith('~')) || /[=:]~/.test(source)) this.#expands(false);
    this.text += value;
  }

  #part(part: WordPart, first: boolean): void {
    switch (part.type) {
      case 'Literal':
        this.#literal(part.text, part.value, first);
        return;
      case 'SingleQuoted':
        this.text += part.value;
        return;
      case 'DoubleQuoted':
        this.#quoted(part.parts);
        return;
      case 'AnsiCQuoted':
        this.unescaped = false;
        if (this.#dialect === 'sh') this.#doubt("$'…' is not known to every sh");
        if (part.text.includes('\\\n')) this.#doubt("$'…' holds a line continuation");
        this.text += part.value;
        return;
      case 'LocaleString':
        this.#doubt('$"…" depends on the locale');
        this.#quoted(part.parts);
        return;
      case 'BraceExpansion':
        // A sh without brace expansion takes the braces as text.
        this.#expands(true);
        return;
      case 'ArithmeticExpansion':
        this.#expands(false);
        return;
      case 'ProcessSubstitution':
        if (this.#dialect === 'sh') this.#doubt('process substitution is not known to every sh');
        this.#expands(false);
        return;
      case 'ExtendedGlob':
        if (this.#dialect === 'sh') this.#doubt('extended patterns are not known to every sh');
        this.#expands(true);
        return;
      default:
        this.#expands(true);
        return;
    }
  }

  #quoted(parts: readonly WordPart[]): void {
    for (const part of parts) {
      if (part.type === 'Literal') {
        if (part.text.includes('\\')) this.unescaped &&= !/\\[$`"\\\n]/.test(part.text);
        this.text += part.value;
      } else this.#expands(/@/.test(part.text));
    }
  }
}

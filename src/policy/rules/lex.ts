/**
 * Text to tokens for the `.rules` dialect of Starlark. Indentation becomes `indent` / `dedent` tokens; line ends inside
 * brackets vanish. Strings are decoded here; the braces of an f-string stay text and are parsed by the parser.
 */
import { Mistake } from './rule-error.js';

export type TokenKind =
  | 'name'
  | 'int'
  | 'float'
  | 'string'
  | 'fstring'
  | 'op'
  | 'newline'
  | 'indent'
  | 'dedent'
  | 'end';

export interface Token {
  readonly kind: TokenKind;
  /** Names, operators and numbers as written; the value of a string; the raw inside of an f-string. */
  readonly text: string;
  readonly offset: number;
  /** For f-strings: the offset of the raw inside, and whether escapes count. */
  readonly inside?: { readonly offset: number; readonly raw: boolean };
}

const OPERATORS = [
  ...['//=', '>>=', '<<=', '...'],
  ...['==', '!=', '<=', '>=', '//', '<<', '>>', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '**', '->'],
  ...'+-*/%&|^~<>()[]{},:;.='.split(''),
];
/** Longest first, so that `//=` is not read as `/`. */
const OPERATORS_BY_FIRST = new Map<string, readonly string[]>();
for (const operator of OPERATORS) {
  OPERATORS_BY_FIRST.set(operator[0]!, [...(OPERATORS_BY_FIRST.get(operator[0]!) ?? []), operator]);
}
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const STRING_START = /(f|r|fr|rf)?("""|'''|"|')/y;
const STRING_LEADS = '"\'fr';
const MAX_TOKENS = 2_000_000;

export function lex(text: string): Token[] {
  return new Lexer(text).run();
}

class Lexer {
  readonly #text: string;
  readonly #tokens: Token[] = [];
  readonly #indents = [0];
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  run(): Token[] {
    this.#lineStart();
    while (this.#at < this.#text.length) this.#next();
    // The end counts to the last line that has text, so that an error there points at something a person can see.
    const end = this.#text.endsWith('\n') ? this.#text.length - 1 : this.#text.length;
    if (this.#tokens.length > 0 && this.#tokens.at(-1)?.kind !== 'newline') this.#push('newline', '', end);
    for (; this.#indents.length > 1; this.#indents.pop()) this.#push('dedent', '', end);
    this.#push('end', '', end);
    return this.#tokens;
  }

  #push(kind: TokenKind, text: string, offset: number, inside?: Token['inside']): void {
    if (this.#tokens.length >= MAX_TOKENS) throw new Mistake('limit', 'the file is too long', offset);
    this.#tokens.push(inside ? { kind, text, offset, inside } : { kind, text, offset });
  }

  /** Measures the indentation of a new line, skipping blank and comment lines. */
  #lineStart(): void {
    for (;;) {
      const start = this.#at;
      while (this.#text[this.#at] === ' ') this.#at++;
      const char = this.#text[this.#at];
      if (char === '\t') throw new Mistake('syntax', 'tabs are not allowed', this.#at);
      if (char === '#') this.#skipComment();
      if (this.#atLineEnd()) {
        this.#skipLineEnd();
        continue;
      }
      if (this.#at >= this.#text.length) return;
      this.#indentTo(this.#at - start);
      return;
    }
  }

  #indentTo(width: number): void {
    const current = this.#indents.at(-1) ?? 0;
    if (width > current) {
      this.#indents.push(width);
      this.#push('indent', '', this.#at);
    }
    while (width < (this.#indents.at(-1) ?? 0)) {
      this.#indents.pop();
      this.#push('dedent', '', this.#at);
    }
    if (width !== this.#indents.at(-1)) throw new Mistake('syntax', 'unexpected indentation', this.#at);
  }

  #atLineEnd(): boolean {
    return this.#text[this.#at] === '\n' || (this.#text[this.#at] === '\r' && this.#text[this.#at + 1] === '\n');
  }

  #skipLineEnd(): void {
    this.#at += this.#text[this.#at] === '\r' ? 2 : 1;
  }

  #skipComment(): void {
    while (this.#at < this.#text.length && this.#text[this.#at] !== '\n') this.#at++;
  }

  #next(): void {
    const char = this.#text[this.#at]!;
    if (char === ' ' || char === '\t') this.#at++;
    else if (char === '#') this.#skipComment();
    else if (char === '\\' && /^\\\r?\n/.test(this.#text.slice(this.#at, this.#at + 3))) {
      this.#at++;
      this.#skipLineEnd();
    } else if (this.#atLineEnd()) {
      if (this.#depth === 0) this.#push('newline', '', this.#at);
      this.#skipLineEnd();
      if (this.#depth === 0) this.#lineStart();
    } else if (/[0-9]/.test(char)) this.#number();
    else if (!this.#string()) this.#nameOrOperator(char);
  }

  #number(): void {
    const pattern = /0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?/y;
    pattern.lastIndex = this.#at;
    const text = pattern.exec(this.#text)?.[0] ?? '';
    if (/^0[0-9]/.test(text)) throw new Mistake('syntax', `invalid number \`${text}\``, this.#at);
    this.#push(/^0[xXoObB]/.test(text) || !/[.eE]/.test(text) ? 'int' : 'float', text, this.#at);
    this.#at += text.length;
  }

  #nameOrOperator(char: string): void {
    NAME.lastIndex = this.#at;
    const word = NAME.exec(this.#text)?.[0];
    if (word) {
      this.#push('name', word, this.#at);
      this.#at += word.length;
      return;
    }
    const operator = OPERATORS_BY_FIRST.get(char)?.find((candidate) => this.#text.startsWith(candidate, this.#at));
    if (!operator) throw new Mistake('syntax', `invalid input \`${char}\``, this.#at);
    if ('([{'.includes(operator)) this.#depth++;
    if (')]}'.includes(operator)) this.#depth = Math.max(0, this.#depth - 1);
    this.#push('op', operator, this.#at);
    this.#at += operator.length;
  }

  #string(): boolean {
    if (!STRING_LEADS.includes(this.#text[this.#at]!)) return false;
    STRING_START.lastIndex = this.#at;
    const match = STRING_START.exec(this.#text);
    if (!match) return false;
    const start = this.#at;
    const prefix = match[1] ?? '';
    const quote = match[2]!;
    const bodyStart = start + match[0].length;
    const bodyEnd = this.#closing(bodyStart, quote, start);
    const body = this.#text.slice(bodyStart, bodyEnd);
    const raw = prefix.includes('r');
    if (prefix.includes('f')) this.#push('fstring', body, start, { offset: bodyStart, raw });
    else this.#push('string', raw ? body.replaceAll('\r\n', '\n') : decodeEscapes(body, bodyStart), start);
    this.#at = bodyEnd + quote.length;
    return true;
  }

  #closing(from: number, quote: string, start: number): number {
    // Most strings are short and hold no escape: the next quote ends them.
    const next = this.#text.indexOf(quote, from);
    if (next !== -1 && !/[\\\n]/.test(this.#text.slice(from, next))) return next;
    for (let at = from; at < this.#text.length; at++) {
      if (this.#text[at] === '\\') at++;
      else if (this.#text.startsWith(quote, at)) return at;
      else if (quote.length === 1 && this.#text[at] === '\n') break;
    }
    throw new Mistake('syntax', 'unfinished string literal', start);
  }
}

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '\n': '',
};
const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** Replaces backslash escapes. An unknown `\q` stays two characters (Codex 0.171). */
export function decodeEscapes(body: string, offset: number): string {
  if (!body.includes('\\')) return body.replaceAll('\r\n', '\n');
  let out = '';
  for (let at = 0; at < body.length; at++) {
    if (body[at] !== '\\') {
      out += body[at];
      continue;
    }
    const kind = body[++at] ?? '';
    const simple = SIMPLE_ESCAPES[kind];
    if (simple !== undefined) out += simple;
    else if (HEX_DIGITS[kind] !== undefined) {
      const digits = body.slice(at + 1, at + 1 + HEX_DIGITS[kind]);
      out += decodeHex(kind, digits, HEX_DIGITS[kind], offset + at - 1);
      at += digits.length;
    } else if (/[0-7]/.test(kind)) {
      const digits = /^[0-7]{1,3}/.exec(body.slice(at))?.[0] ?? kind;
      out += String.fromCodePoint(Number.parseInt(digits, 8));
      at += digits.length - 1;
    } else out += `\\${kind}`;
  }
  return out.replaceAll('\r\n', '\n');
}

function decodeHex(kind: string, digits: string, count: number, offset: number): string {
  const code = Number.parseInt(digits, 16);
  if (digits.length !== count || !/^[0-9a-fA-F]+$/.test(digits) || code > 0x10ffff) {
    throw new Mistake('syntax', `invalid string escape sequence \`\\${kind}${digits}\``, offset);
  }
  return String.fromCodePoint(code);
}

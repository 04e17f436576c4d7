/**
 * The proof pass. A script is plain when it is simple commands of literal words joined by `&&`, `||`, `;`, `|` and
 * newlines. Characters are allowed by list, never by exclusion of the known bad ones, so that a surprise of some shell
 * makes a script not plain instead of granting it. Every POSIX shell reads a plain script alike.
 */

/** Shell grammar begins with these; a command so named is not a simple command. */
const RESERVED = new Set(
  'if then elif else fi for while until do done case esac select function in export declare typeset local readonly unset'.split(
    ' ',
  ),
);
/** Never part of an unquoted word here: they expand, redirect, group, escape or comment. */
const SPECIAL = new Set([...'{}*?[]\\~^#$`<>()&|;"\' \t\n']);
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;

/** The words of each command, or undefined when the script is not plain. */
export function plainCommands(script: string): string[][] | undefined {
  return new PlainScanner(script).run();
}

class PlainScanner {
  readonly #text: string;
  readonly #commands: string[][] = [];
  #words: string[] = [];
  #at = 0;
  #refused = false;
  /** An operator that needs a command after it is open. */
  #open = false;

  constructor(text: string) {
    this.#text = text;
  }

  run(): string[][] | undefined {
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at]!;
      if (char === ' ' || char === '\t') this.#at++;
      else if (char === '\\' && this.#isContinuation()) this.#at += 2;
      else if (char === '\n' || char === ';' || char === '&' || char === '|') {
        if (!this.#operator(char)) return undefined;
      } else if (!this.#word()) return undefined;
    }
    if (!this.#endCommand() && this.#open) return undefined;
    return this.#commands.length > 0 && !this.#refused ? this.#commands : undefined;
  }

  /** A backslash and newline between words only; inside a word it joins, which is not plain. */
  #isContinuation(): boolean {
    const before = this.#text[this.#at - 1];
    return this.#text[this.#at + 1] === '\n' && (before === undefined || ' \t\n'.includes(before));
  }

  #endCommand(): boolean {
    if (this.#words.length === 0) return false;
    this.#refused ||= startsGrammar(this.#words);
    this.#commands.push(this.#words);
    this.#words = [];
    this.#open = false;
    return true;
  }

  #operator(char: string): boolean {
    const ended = this.#endCommand();
    if (char === '\n') {
      this.#at++;
      return true;
    }
    if (!ended) return false;
    if (char === ';') {
      this.#at++;
      return true;
    }
    const double = this.#text[this.#at + 1] === char;
    // `&` alone starts a background job, `|&` joins error output: both are beyond plain.
    if ((char === '&' && !double) || (char === '|' && !double && this.#text[this.#at + 1] === '&')) return false;
    this.#at += double ? 2 : 1;
    this.#open = true;
    return true;
  }

  #word(): boolean {
    const start = this.#at;
    let value = '';
    let quoted = false;
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at]!;
      if (char === "'" || char === '"') {
        const piece = char === "'" ? this.#single() : this.#double();
        if (piece === undefined) return false;
        value += piece;
        quoted = true;
      } else if (isPlainCharacter(char)) {
        value += char;
        this.#at++;
      } else break;
    }
    const end = this.#text[this.#at];
    if (this.#at === start || (end !== undefined && !' \t\n;&|'.includes(end))) return false;
    return this.#take(value, quoted, this.#text.slice(start, this.#at));
  }

  #take(value: string, quoted: boolean, source: string): boolean {
    if (source.startsWith('=')) return false;
    if (value === '' && source.length > 2) return false;
    if (this.#words.length === 0 && (quoted || value === '!' || RESERVED.has(value) || ASSIGNMENT.test(value)))
      return false;
    this.#words.push(value);
    return true;
  }

  #single(): string | undefined {
    const end = this.#text.indexOf("'", this.#at + 1);
    if (end === -1) return undefined;
    const piece = this.#text.slice(this.#at + 1, end);
    this.#at = end + 1;
    return hasControl(piece) ? undefined : piece;
  }

  /** Literal text. A backslash before an ordinary character stays; before `$`, `"`, `` ` ``, `\` or a newline it is not plain. */
  #double(): string | undefined {
    const from = this.#at + 1;
    for (let at = from; at < this.#text.length; at++) {
      const char = this.#text[at]!;
      if (char === '"') {
        this.#at = at + 1;
        const piece = this.#text.slice(from, at);
        return hasControl(piece) ? undefined : piece;
      }
      if (char === '$' || char === '`') return undefined;
      if (char === '\\' && '$`"\\\n'.includes(this.#text[at + 1] ?? '\\')) return undefined;
    }
    return undefined;
  }
}

/** After `time` and `coproc` the grammar goes on: an assignment, a negation or a keyword there is no program. */
function startsGrammar(words: readonly string[]): boolean {
  if (words[0] !== 'time' && words[0] !== 'coproc') return false;
  return words.slice(1, 4).some((word) => word === '!' || RESERVED.has(word) || ASSIGNMENT.test(word) || word === '--');
}

/** Printable, and without a meaning to any shell. NUL, CR and other control characters are not. */
function isPlainCharacter(char: string): boolean {
  const code = char.charCodeAt(0);
  if (code >= 0x80) return true;
  if (code < 0x20 || code === 0x7f) return false;
  return !SPECIAL.has(char);
}

function hasControl(text: string): boolean {
  return /[\0\r]/.test(text);
}

/**
 * Recognises a shell script that does nothing but apply one patch, so that it can run as the tool: judged by its paths,
 * shown as a file change. Strict on purpose: what is not understood completely stays a command.
 */

export interface InterceptedPatch {
  readonly patch: string;
  /** From `cd DIR &&`, as written. */
  readonly workdir?: string;
}

/**
 * `apply_patch <<'EOF' … EOF` (any delimiter word; unquoted only when the body has nothing to expand) or
 * `apply_patch 'PATCH'`, optionally after `cd DIR &&`. `applypatch` is the same program. Anything else: undefined.
 */
export function interceptApplyPatch(script: string): InterceptedPatch | undefined {
  const reader = new ScriptReader(script);
  reader.skipBlank();
  let workdir: string | undefined;
  if (reader.takeName('cd')) {
    workdir = reader.takeWord();
    if (workdir === undefined || workdir === '' || workdir.startsWith('-') || !reader.takeAnd()) return undefined;
  }
  if (!reader.takeName('apply_patch') && !reader.takeName('applypatch')) return undefined;
  const patch = reader.takeHeredoc() ?? reader.takePatchWord();
  if (patch === undefined || !reader.isAtEnd()) return undefined;
  return { patch, ...(workdir === undefined ? {} : { workdir }) };
}

class ScriptReader {
  readonly #script: string;
  #at = 0;

  constructor(script: string) {
    this.#script = script;
  }

  isAtEnd(): boolean {
    return this.#rest().trim() === '';
  }

  skipBlank(): void {
    this.#take(/^\s+/);
  }

  /** The word and the space behind it. */
  takeName(name: string): boolean {
    const rest = this.#rest();
    if (!rest.startsWith(name) || !/^[ \t]|^<</.test(rest.slice(name.length))) return false;
    this.#at += name.length;
    this.#take(/^[ \t]+/);
    return true;
  }

  takeAnd(): boolean {
    return this.#take(/^[ \t]*&&\s*/) !== undefined;
  }

  /** `<<WORD`, the rest of its line empty, then the body up to the word alone on a line, which ends the script. */
  takeHeredoc(): string | undefined {
    const opening = /^<<(-?)[ \t]*(?:'([^'\n]+)'|"([^"\n$`\\]+)"|\\?([A-Za-z0-9_.+-]+))[ \t]*\n/.exec(this.#rest());
    if (!opening) return undefined;
    const [all, dash, single, double, bare] = opening;
    const delimiter = single ?? double ?? bare!;
    const isLiteral = single !== undefined || double !== undefined || all.includes(`\\${bare}`);
    const written = this.#rest().slice(all.length).split('\n');
    const lines = dash ? written.map((line) => line.replace(/^\t+/, '')) : written;
    const end = lines.indexOf(delimiter);
    if (end < 0) return undefined;
    const body = lines.slice(0, end).join('\n');
    if (!isLiteral && /[$`\\]/.test(body)) return undefined;
    this.#at = this.#script.length - lengthOf(written.slice(end + 1));
    return end === 0 ? '' : `${body}\n`;
  }

  takePatchWord(): string | undefined {
    const word = this.takeWord();
    return word?.trimStart().startsWith('*** Begin Patch') ? word : undefined;
  }

  /** One shell word without anything to expand. */
  takeWord(): string | undefined {
    const start = this.#at;
    let word = '';
    for (let piece = this.#takePiece(); piece !== undefined; piece = this.#takePiece()) word += piece;
    return this.#at > start && /^(?:\s|&&|$)/.test(this.#rest()) ? word : undefined;
  }

  /** A quoted, escaped or plain part of a word, as the shell reads it. */
  #takePiece(): string | undefined {
    const single = this.#take(/^'[^']*'/);
    if (single !== undefined) return single.slice(1, -1);
    const double = this.#take(/^"(?:[^"\\$`]+|\\[\s\S])*"/);
    if (double !== undefined) return unescapeDouble(double.slice(1, -1));
    const escaped = this.#take(/^\\[^\n]/);
    if (escaped !== undefined) return escaped.slice(1);
    return this.#take(/^[A-Za-z0-9_./:@%+,=-]+/);
  }

  #take(pattern: RegExp): string | undefined {
    const found = pattern.exec(this.#rest());
    if (!found) return undefined;
    this.#at += found[0].length;
    return found[0];
  }

  #rest(): string {
    return this.#script.slice(this.#at);
  }
}

function lengthOf(lines: readonly string[]): number {
  return lines.length === 0 ? 0 : lines.join('\n').length;
}

/** In double quotes a backslash only escapes `$`, a backquote, `"`, itself and a line end. */
function unescapeDouble(text: string): string {
  return text.replace(/\\([$`"\\])|\\\n/g, (_, escaped: string | undefined) => escaped ?? '');
}

/** Shell words: splitting the examples of a rule, and quoting words for a person. */

/**
 * Splits text into words the way a POSIX shell would without running anything: quotes and backslashes count, `#`
 * starts a comment, operators are ordinary words. Undefined when a quote or an escape is unfinished.
 */
export function splitWords(text: string): string[] | undefined {
  const words: string[] = [];
  for (let at = 0; at < text.length; ) {
    const char = text[at]!;
    if (' \t\n'.includes(char)) at++;
    else if (char === '#') {
      while (at < text.length && text[at] !== '\n') at++;
    } else {
      const word = readWord(text, at);
      if (!word) return undefined;
      words.push(word.value);
      at = word.end;
    }
  }
  return words;
}

function readWord(text: string, from: number): { readonly value: string; readonly end: number } | undefined {
  let value = '';
  let at = from;
  while (at < text.length && !' \t\n'.includes(text[at]!)) {
    const char = text[at]!;
    if (char === "'") {
      const end = text.indexOf("'", at + 1);
      if (end === -1) return undefined;
      value += text.slice(at + 1, end);
      at = end + 1;
    } else if (char === '"') {
      const quoted = readDoubleQuoted(text, at + 1);
      if (!quoted) return undefined;
      value += quoted.value;
      at = quoted.end;
    } else if (char === '\\') {
      if (at + 1 >= text.length) return undefined;
      if (text[at + 1] !== '\n') value += text[at + 1];
      at += 2;
    } else {
      value += char;
      at++;
    }
  }
  return { value, end: at };
}

function readDoubleQuoted(text: string, from: number): { readonly value: string; readonly end: number } | undefined {
  let value = '';
  for (let at = from; at < text.length; at++) {
    const char = text[at]!;
    if (char === '"') return { value, end: at + 1 };
    const next = text[at + 1];
    if (char === '\\' && next !== undefined && '$`"\\\n'.includes(next)) {
      if (next !== '\n') value += next;
      at++;
    } else value += char;
  }
  return undefined;
}

/** One word, quoted only where a shell needs it. */
export function quoteWord(word: string): string {
  if (word === '') return "''";
  if (/^[A-Za-z0-9+\-./:@\]_]+$/.test(word)) return word;
  if (!word.includes("'")) return `'${word}'`;
  return `"${word.replace(/["\\$`]/g, '\\$&')}"`;
}

/** A command line a person can read and a shell would take back as the same words. */
export function joinWords(words: readonly string[]): string {
  return words.map(quoteWord).join(' ');
}

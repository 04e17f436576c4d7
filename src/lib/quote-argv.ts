/**
 * An argv as one line that a POSIX shell reads back the same, quoted as little as needed. Clients compare these lines, so
 * the choice of quotes is fixed: a word is cut into the longest pieces that one kind of quoting can hold, plain before
 * single before double quotes.
 */
export function quoteArgv(argv: readonly string[]): string {
  return argv.map(quoteWord).join(' ');
}

type Quotes = 'plain' | 'single' | 'double';
const PREFERENCE: readonly Quotes[] = ['plain', 'single', 'double'];

function quoteWord(word: string): string {
  if (word === '') return "''";
  let quoted = '';
  for (let at = 0; at < word.length; ) {
    const { end, quotes } = longestPiece(word, at);
    quoted += wrap(word.slice(at, end), quotes);
    at = end;
  }
  return quoted;
}

function longestPiece(word: string, at: number): { end: number; quotes: Quotes } {
  // `^` is special to some shells anywhere but right after an opening single quote.
  const caret = word[at] === '^';
  let usable: readonly Quotes[] = caret ? ['single'] : PREFERENCE;
  let end = caret ? at + 1 : at;
  for (; end < word.length; end++) {
    const still = usable.filter((quotes) => canHold(quotes, word[end]!));
    if (still.length === 0) break;
    usable = still;
  }
  return { end, quotes: usable[0]! };
}

function canHold(quotes: Quotes, char: string): boolean {
  switch (quotes) {
    case 'plain':
      return /[A-Za-z0-9+\-./:@\]_]/.test(char);
    case 'single':
      return char !== "'" && char !== '\\' && char !== '^';
    case 'double':
      return char !== '`' && char !== '$' && char !== '!' && char !== '^';
  }
}

function wrap(piece: string, quotes: Quotes): string {
  switch (quotes) {
    case 'plain':
      return piece;
    case 'single':
      return `'${piece}'`;
    case 'double':
      return `"${piece.replace(/["\\]/g, '\\$&')}"`;
  }
}

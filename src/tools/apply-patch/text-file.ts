/** A text file as lines that remember how they end, so that an edit leaves every line it does not touch as it was. */

export interface TextLine {
  readonly text: string;
  /** Undefined for a last line without a line end, and for a line that was just added. */
  readonly end: '\n' | '\r\n' | undefined;
}

export function splitText(content: string): TextLine[] {
  const lines: TextLine[] = [];
  let start = 0;
  for (let at = content.indexOf('\n'); at >= 0; at = content.indexOf('\n', start)) {
    const crlf = at > start && content[at - 1] === '\r';
    lines.push({ text: content.slice(start, crlf ? at - 1 : at), end: crlf ? '\r\n' : '\n' });
    start = at + 1;
  }
  if (start < content.length) lines.push({ text: content.slice(start), end: undefined });
  return lines;
}

/**
 * Joins `lines` after an edit of `original`. New lines get the ending most lines of the file have. The last line stays
 * without an end only if it is the file's own last line and had none.
 */
export function joinText(lines: readonly TextLine[], original: readonly TextLine[]): string {
  const usual = usualEnd(original);
  const ownLast = original.at(-1);
  const pieces: string[] = [];
  lines.forEach((line, index) => {
    const keepsOpen = index === lines.length - 1 && line === ownLast;
    pieces.push(line.text, line.end ?? (keepsOpen ? '' : usual));
  });
  return pieces.join('');
}

function usualEnd(lines: readonly TextLine[]): '\n' | '\r\n' {
  let balance = 0;
  for (const line of lines) balance += line.end === '\r\n' ? 1 : line.end === '\n' ? -1 : 0;
  if (balance === 0) return lines[0]?.end ?? '\n'; // a tie: as the file begins
  return balance > 0 ? '\r\n' : '\n';
}

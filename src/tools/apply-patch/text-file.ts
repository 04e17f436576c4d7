/** A text file as lines that remember how they end, so that an edit leaves every line it does not touch as it was. */

/** LF, CRLF and a lone CR end a line, as in Codex 0.171. */
type LineEnd = '\n' | '\r\n' | '\r';

export interface TextLine {
  readonly text: string;
  /** Undefined for a last line without a line end, and for a line that was just added. */
  readonly end: LineEnd | undefined;
}

export function splitText(content: string): TextLine[] {
  const lines: TextLine[] = [];
  let start = 0;
  for (const found of content.matchAll(/\r\n|\n|\r/g)) {
    lines.push({ text: content.slice(start, found.index), end: found[0] as LineEnd }); // the pattern has only these
    start = found.index + found[0].length;
  }
  if (start < content.length) lines.push({ text: content.slice(start), end: undefined });
  return lines;
}

/**
 * Joins `lines` after an edit of `original`. New lines end as the file's first line does (Codex 0.171). The last line
 * stays without an end only if it is the file's own last line and had none.
 */
export function joinText(lines: readonly TextLine[], original: readonly TextLine[]): string {
  const usual = original[0]?.end ?? '\n';
  const ownLast = original.at(-1);
  const pieces: string[] = [];
  lines.forEach((line, index) => {
    const keepsOpen = index === lines.length - 1 && line === ownLast;
    pieces.push(line.text, line.end ?? (keepsOpen ? '' : usual));
  });
  return pieces.join('');
}

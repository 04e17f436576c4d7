/** Says in one clause why a block was not found and what stands there instead, so that the next patch can be right. */
import type { LineIndex } from './seek-lines.js';
import { trim } from './white-space.js';

interface Missing {
  readonly index: LineIndex;
  readonly block: readonly string[];
  readonly cursor: number;
  readonly atEnd: boolean;
}

/** Files longer than this are not searched for similar text. */
const MAX_LINES = 20_000;
const MAX_SHOWN = 160;

/** Ends with the bracket that its caller opened. */
export function describeMismatch({ index, block, cursor, atEnd }: Missing): string {
  const above = cursor > 0 ? index.find(block, 0, false) : undefined;
  if (above !== undefined && above < cursor) {
    return `these lines begin on line ${above + 1}, above the chunk before or its scope line; chunks must follow the file's order)`;
  }
  const anywhere = atEnd ? index.find(block, cursor, false) : undefined;
  if (anywhere !== undefined) {
    return `these lines begin on line ${anywhere + 1}, not at the end of the file as '*** End of File' says)`;
  }
  const near = nearestLine(index, block);
  if (near === undefined) return 'the file has no similar text; read it again)';
  const text = index.line(near)!;
  const mark = text.startsWith('\ufeff') ? ', which begins with a byte order mark (U+FEFF)' : '';
  const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  return `nearest text is line ${near + 1}${mark}: ${shown})`;
}

/** The line most like the first telling line of the block. */
function nearestLine(index: LineIndex, block: readonly string[]): number | undefined {
  const wanted = block.map(trim).filter((line) => line !== '');
  if (wanted.length === 0 || index.length > MAX_LINES) return undefined;
  const targets = wanted.slice(0, 3).map(pairs);
  let best = { line: -1, score: 0.4 };
  for (let line = 0; line < index.length; line++) {
    const have = pairs(trim(index.line(line)!));
    for (const [rank, target] of targets.entries()) {
      const score = likeness(target, have) - rank * 0.05;
      if (score > best.score) best = { line, score };
    }
  }
  return best.line < 0 ? undefined : best.line;
}

function pairs(text: string): Set<string> {
  const found = new Set<string>();
  const short = text.slice(0, 200);
  for (let i = 0; i + 1 < short.length; i++) found.add(short.slice(i, i + 2));
  if (short.length === 1) found.add(short);
  return found;
}

/** Share of character pairs in common, 0 to 1. */
function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 || b.size === 0) return 0;
  let common = 0;
  for (const pair of a) if (b.has(pair)) common++;
  return (2 * common) / (a.size + b.size);
}

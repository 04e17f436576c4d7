/**
 * Server-sent events, incrementally: text chunks in, `data` payloads out. A chunk may end anywhere. The pieces of an
 * unfinished line are kept apart and joined once, so a long line costs its length, not its square.
 * Lines end in LF or CRLF; a lone CR (allowed by the standard, sent by no provider) is content.
 */
const CR = 13;
const SPACE = 32;

/** Characters one event may have. Past it the stream is not a sane event stream any more. */
const MAX_EVENT_CHARS = 64 * 1024 * 1024;

export class SseParser {
  readonly #onData: (data: string) => void;
  /** Pieces of the line that has not ended yet. */
  #pieces: string[] = [];
  #pieceChars = 0;
  #data: string | undefined;

  constructor(onData: (data: string) => void) {
    this.#onData = onData;
  }

  /** False when one event grew past the bound; the caller gives the stream up. */
  push(chunk: string): boolean {
    let start = 0;
    let end = chunk.indexOf('\n');
    if (end >= 0 && this.#pieces.length > 0) {
      this.#pieces.push(chunk.slice(0, end));
      const line = this.#pieces.join('');
      this.#pieces = [];
      this.#pieceChars = 0;
      this.#line(line, 0, line.length);
      start = end + 1;
      end = chunk.indexOf('\n', start);
    }
    while (end >= 0) {
      this.#line(chunk, start, end);
      start = end + 1;
      end = chunk.indexOf('\n', start);
    }
    if (start < chunk.length) {
      this.#pieces.push(start === 0 ? chunk : chunk.slice(start));
      this.#pieceChars += chunk.length - start;
    }
    return this.#pieceChars + (this.#data?.length ?? 0) <= MAX_EVENT_CHARS;
  }

  /** The body ended. A last event without its blank line is delivered: some servers leave it out. */
  end(): void {
    if (this.#pieces.length > 0) {
      const line = this.#pieces.join('');
      this.#pieces = [];
      this.#line(line, 0, line.length);
    }
    this.#dispatch();
  }

  #line(text: string, start: number, end: number): void {
    if (end > start && text.charCodeAt(end - 1) === CR) end--;
    if (end === start) {
      this.#dispatch();
      return;
    }
    if (!text.startsWith('data', start)) return; // comments, event names, ids: the payload names its own type
    if (end - start > 4 && text.charCodeAt(start + 4) !== 58) return;
    let from = Math.min(start + 5, end);
    if (from < end && text.charCodeAt(from) === SPACE) from++;
    const value = text.slice(from, end);
    this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
  }

  #dispatch(): void {
    if (this.#data === undefined) return;
    const data = this.#data;
    this.#data = undefined;
    if (data !== '') this.#onData(data);
  }
}

/**
 * What a process printed, in bounded memory: the first half and the last half of the bound are kept, the middle is
 * counted and let go. Bytes go in; text comes out, never with half a character.
 */

/** Bytes of one process's output that are kept between two reads. */
export const MAX_KEPT_BYTES = 1024 * 1024;

/** Output since the last read. */
export interface OutputSlice {
  /** What was kept. Where bytes were dropped, a line in brackets stands in their place. */
  readonly text: string;
  /** All bytes, dropped ones included. */
  readonly bytes: number;
  /** All lines, dropped ones included; a last line without newline counts. */
  readonly lines: number;
  readonly droppedBytes: number;
  /** Line ends among the dropped bytes. */
  readonly droppedLines: number;
}

export class OutputBuffer {
  readonly #half: number;
  #head = Buffer.alloc(0);
  #headLength = 0;
  #tail: Buffer | undefined;
  #tailAt = 0;
  #tailLength = 0;
  #bytes = 0;
  #newlines = 0;
  #ended = false;

  constructor(maxKeptBytes: number = MAX_KEPT_BYTES) {
    this.#half = Math.floor(maxKeptBytes / 2);
  }

  append(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    this.#newlines += countNewlines(bytes);
    const room = this.#half - this.#headLength;
    if (room > 0) this.#fillHead(bytes.subarray(0, room));
    if (bytes.length > room) this.#fillTail(bytes.subarray(room));
  }

  /** No more output will come: an unfinished character at the end is given out too. */
  end(): void {
    this.#ended = true;
  }

  /** Output that was not returned before. An unfinished character stays until the rest of it arrives. */
  takeNew(): OutputSlice {
    const kept = Buffer.concat([this.#head.subarray(0, this.#headLength), this.#tailBytes()]);
    const dropped = this.#bytes - kept.length;
    const slice = dropped > 0 ? this.#cutSlice(kept) : this.#wholeSlice(kept);
    this.#reset();
    this.append(slice.rest);
    return slice.taken;
  }

  #wholeSlice(kept: Buffer): { taken: OutputSlice; rest: Buffer } {
    const end = this.#ended ? kept.length : completeEnd(kept);
    const taken = kept.subarray(0, end);
    const lines = countNewlines(taken) + (endsOpen(taken) ? 1 : 0);
    const slice = { text: decode(taken), bytes: taken.length, lines, droppedBytes: 0, droppedLines: 0 };
    return { taken: slice, rest: Buffer.from(kept.subarray(end)) };
  }

  #cutSlice(kept: Buffer): { taken: OutputSlice; rest: Buffer } {
    const head = kept.subarray(0, completeEnd(kept.subarray(0, this.#half)));
    const ring = kept.subarray(this.#half);
    const tailEnd = this.#ended ? ring.length : completeEnd(ring);
    const tail = ring.subarray(completeStart(ring), tailEnd);
    const rest = Buffer.from(ring.subarray(tailEnd));
    const bytes = this.#bytes - rest.length;
    const droppedBytes = bytes - head.length - tail.length;
    const droppedLines = this.#newlines - countNewlines(head) - countNewlines(tail);
    const text = `${decode(head)}\n[… ${droppedBytes} bytes (${droppedLines} lines) of output dropped here …]\n${decode(tail)}`;
    const lines = this.#newlines + (endsOpen(tail) ? 1 : 0);
    return { taken: { text, bytes, lines, droppedBytes, droppedLines }, rest };
  }

  #fillHead(bytes: Uint8Array): void {
    const length = this.#headLength + bytes.length;
    if (length > this.#head.length) {
      const grown = Buffer.allocUnsafe(Math.min(this.#half, Math.max(length, this.#head.length * 2, 4096)));
      grown.set(this.#head.subarray(0, this.#headLength));
      this.#head = grown;
    }
    this.#head.set(bytes, this.#headLength);
    this.#headLength = length;
  }

  /** The tail is a ring: new bytes overwrite the oldest. */
  #fillTail(bytes: Uint8Array): void {
    this.#tail ??= Buffer.allocUnsafe(this.#half);
    const last = bytes.subarray(Math.max(0, bytes.length - this.#half));
    const first = last.subarray(0, this.#half - this.#tailAt);
    this.#tail.set(first, this.#tailAt);
    this.#tail.set(last.subarray(first.length), 0);
    this.#tailAt = (this.#tailAt + last.length) % this.#half;
    this.#tailLength = Math.min(this.#half, this.#tailLength + last.length);
  }

  #tailBytes(): Buffer {
    if (!this.#tail) return Buffer.alloc(0);
    if (this.#tailLength < this.#half) return this.#tail.subarray(0, this.#tailLength);
    return Buffer.concat([this.#tail.subarray(this.#tailAt), this.#tail.subarray(0, this.#tailAt)]);
  }

  #reset(): void {
    this.#head = Buffer.alloc(0);
    this.#headLength = 0;
    this.#tail = undefined;
    this.#tailAt = 0;
    this.#tailLength = 0;
    this.#bytes = 0;
    this.#newlines = 0;
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Bytes that are no UTF-8 become U+FFFD. */
function decode(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

function countNewlines(bytes: Uint8Array): number {
  let count = 0;
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === 10) count++;
  return count;
}

function endsOpen(bytes: Uint8Array): boolean {
  return bytes.length > 0 && bytes[bytes.length - 1] !== 10;
}

/** Where the last whole character ends: a lead byte whose continuation is still missing is left out. */
export function completeEnd(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back]!;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 && byte < 0xf8 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
    return byte < 0xf8 && needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Where the first whole character begins. */
export function completeStart(bytes: Uint8Array): number {
  let start = 0;
  while (start < 3 && start < bytes.length && (bytes[start]! & 0xc0) === 0x80) start++;
  return start;
}

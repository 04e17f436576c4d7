/** Serialises each object once and keeps the bytes as long as the object lives. */
export class EncoderCache<T extends object> {
  readonly #bytes = new WeakMap<T, Buffer>();
  readonly #encode: (value: T) => string;

  constructor(encode: (value: T) => string) {
    this.#encode = encode;
  }

  get(value: T): Buffer {
    let bytes = this.#bytes.get(value);
    if (!bytes) {
      bytes = Buffer.from(this.#encode(value));
      this.#bytes.set(value, bytes);
    }
    return bytes;
  }
}

const COMMA = Buffer.from(',');

/** `prefix`, the pieces joined by commas, `suffix`, as one buffer. */
export function joinBytes(prefix: string, pieces: Iterable<Buffer>, suffix: string): Buffer {
  const parts: Buffer[] = [Buffer.from(prefix)];
  for (const piece of pieces) {
    if (parts.length > 1) parts.push(COMMA);
    parts.push(piece);
  }
  parts.push(Buffer.from(suffix));
  return Buffer.concat(parts);
}

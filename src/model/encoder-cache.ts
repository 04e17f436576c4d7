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

/** A request body in the making: texts and lists of finished pieces, copied together once at the end. */
export class BodyBuilder {
  readonly #parts: Buffer[] = [];

  text(text: string): this {
    this.#parts.push(Buffer.from(text));
    return this;
  }

  /** The pieces with commas between them. */
  list(pieces: Iterable<Buffer>): this {
    let first = true;
    for (const piece of pieces) {
      if (!first) this.#parts.push(COMMA);
      first = false;
      this.#parts.push(piece);
    }
    return this;
  }

  build(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

const COMMA = Buffer.from(',');

/**
 * An unbounded queue read as an async iterator by one reader. `end` lets the reader finish what is queued;
 * `fail` makes it throw after that.
 */
export class AsyncQueue<T> implements AsyncIterable<T> {
  #items: T[] = [];
  #head = 0;
  #ended = false;
  #error: { reason: unknown } | undefined;
  #wake: (() => void) | undefined;
  #onReturn: (() => void) | undefined;

  /** `onReturn` runs when the reader leaves early (`break`, `return`, throw). */
  constructor(onReturn?: () => void) {
    this.#onReturn = onReturn;
  }

  push(item: T): void {
    if (this.#ended) return;
    this.#items.push(item);
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  fail(reason: unknown): void {
    this.#error = { reason };
    this.end();
  }

  get size(): number {
    return this.#items.length - this.#head;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    try {
      for (;;) {
        while (this.#head < this.#items.length) {
          const item = this.#items[this.#head]!;
          this.#items[this.#head++] = undefined as T; // let go of it at once
          if (this.#head === this.#items.length) {
            this.#items = [];
            this.#head = 0;
          }
          yield item;
        }
        if (this.#ended) {
          if (this.#error) throw this.#error.reason;
          return;
        }
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
      }
    } finally {
      this.#onReturn?.();
    }
  }
}

/**
 * An immutable list that appends in constant time: versions share one growing array, and a version only sees its own
 * first `length` entries. Appending to an old version copies, so every version stays what it was.
 */
export class AppendList<T> implements Iterable<T> {
  readonly #shared: T[];
  readonly length: number;

  private constructor(shared: T[], length: number) {
    this.#shared = shared;
    this.length = length;
  }

  static of<T>(items: Iterable<T> = []): AppendList<T> {
    const shared = [...items];
    return new AppendList(shared, shared.length);
  }

  append(...items: readonly T[]): AppendList<T> {
    if (items.length === 0) return this;
    const shared = this.#shared.length === this.length ? this.#shared : this.#shared.slice(0, this.length);
    for (const item of items) shared.push(item);
    return new AppendList(shared, shared.length);
  }

  at(index: number): T | undefined {
    const i = index < 0 ? this.length + index : index;
    return i >= 0 && i < this.length ? this.#shared[i] : undefined;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (let i = 0; i < this.length; i++) yield this.#shared[i] as T;
  }

  toArray(): T[] {
    return this.#shared.slice(0, this.length);
  }
}

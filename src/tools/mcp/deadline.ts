/** A time limit that stands still while a person is being asked. */
export class Deadline {
  readonly #controller = new AbortController();
  #leftMs: number;
  #startedAtMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #pauses = 0;

  constructor(ms: number) {
    this.#leftMs = ms;
    this.#run();
  }

  /** Fires when the time is up. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isOver(): boolean {
    return this.signal.aborted;
  }

  /** Each pause needs its own `resume`. */
  pause(): void {
    if (this.#pauses++ > 0) return;
    clearTimeout(this.#timer);
    this.#leftMs -= performance.now() - this.#startedAtMs;
  }

  resume(): void {
    if (--this.#pauses === 0) this.#run();
  }

  /** The work is done. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#pauses = Number.POSITIVE_INFINITY;
  }

  #run(): void {
    this.#startedAtMs = performance.now();
    this.#timer = setTimeout(() => this.#controller.abort(new Error('the time is up')), Math.max(0, this.#leftMs));
  }
}

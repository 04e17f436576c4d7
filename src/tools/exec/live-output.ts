/** Output as it comes, for people who watch. A fast command must not drown them, nor the engine. */
import { StringDecoder } from 'node:string_decoder';
import type { Clock } from '../../lib/index.js';

/** Pieces that come within this time are shown together. */
const COALESCE_MS = 50;
/** Shown in full. After that only the end of what each interval brought. */
const FULL_BYTES = 1024 * 1024;
const SAMPLE_BYTES = 8 * 1024;

export class LiveOutput {
  readonly #show: (text: string) => void;
  readonly #clock: Clock;
  readonly #decoder = new StringDecoder('utf8');
  readonly #ended = new AbortController();
  #pending: Buffer[] = [];
  #shownBytes = 0;
  #isWaiting = false;

  constructor(show: (text: string) => void, clock: Clock) {
    this.#show = show;
    this.#clock = clock;
  }

  push(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#pending.push(bytes);
    this.#trim();
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    // Rejects only when `end` is called, which shows the rest itself.
    this.#clock.sleep(COALESCE_MS, this.#ended.signal).then(
      () => this.#flush(),
      () => {},
    );
  }

  end(): void {
    this.#ended.abort();
    this.#flush();
    const rest = this.#decoder.end();
    if (rest !== '') this.#show(rest);
  }

  #flush(): void {
    this.#isWaiting = false;
    const bytes = Buffer.concat(this.#pending);
    this.#pending = [];
    this.#shownBytes += bytes.length;
    const text = this.#decoder.write(bytes);
    if (text !== '') this.#show(text);
  }

  /** Past the full share, lets go of all but the end of what waits. */
  #trim(): void {
    if (this.#shownBytes < FULL_BYTES && this.#pending.length < 64) return;
    const bytes = Buffer.concat(this.#pending);
    const most = Math.max(SAMPLE_BYTES, FULL_BYTES - this.#shownBytes);
    this.#pending = [bytes.length <= most ? bytes : bytes.subarray(bytes.length - most)];
  }
}

import type { IncomingMessage } from 'node:http';
import type { ModelFailure } from '../protocol/index.js';
import { cutFailure, idleFailure, type ProviderFacts } from './failure.js';

export type Chunk =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'end' }
  | { readonly kind: 'failed'; readonly error: ModelFailure };

/** Characters kept before the socket is told to wait. */
const HIGH_WATER_CHARS = 1024 * 1024;

/** How long a finished answer may take to end by itself, so that its connection can serve again. */
const LINGER_MS = 250;

const END: Chunk = { kind: 'end' };

/** The body of an answer as decoded text, read chunk by chunk. Whoever holds it must `close` or `release` it. */
export class ChunkReader {
  readonly #answer: IncomingMessage;
  readonly #signal: AbortSignal;
  readonly #idle: NodeJS.Timeout;
  readonly #onAbort = () => this.close();
  #waiting: string[] = [];
  #waitingChars = 0;
  #last: Chunk | undefined;
  #wake: (() => void) | undefined;
  #closed = false;

  constructor(
    answer: IncomingMessage,
    options: { idleTimeoutMs: number; provider: ProviderFacts },
    signal: AbortSignal,
  ) {
    this.#answer = answer;
    this.#signal = signal;
    this.#idle = setTimeout(() => {
      if (this.#waitingChars > 0)
        this.#idle.refresh(); // the reader is slow, not the server
      else this.#finish({ kind: 'failed', error: idleFailure(options.provider, options.idleTimeoutMs) });
    }, options.idleTimeoutMs);
    signal.addEventListener('abort', this.#onAbort, { once: true });
    answer.setEncoding('utf8');
    answer.on('data', (text: string) => this.#take(text));
    answer.on('end', () => this.#finish(END));
    answer.on('error', (error) => this.#finish({ kind: 'failed', error: cutFailure(error) }));
    answer.on('close', () => this.#finish({ kind: 'failed', error: cutFailure({ code: 'ECONNRESET' }) }));
    if (signal.aborted) this.close();
  }

  /** The body is one JSON document, not a stream of events. */
  get isJson(): boolean {
    return /^application\/(\w+\+)?json\b/i.test(this.#answer.headers['content-type'] ?? '');
  }

  /** The next piece. After `end` or `failed` it repeats itself. Rejects with `signal.reason` on abort. */
  async read(): Promise<Chunk> {
    for (;;) {
      if (this.#signal.aborted) throw this.#signal.reason;
      if (this.#waiting.length > 0) return { kind: 'text', text: this.#drain() };
      if (this.#last) return this.#last;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }

  /** Done with it, all that mattered was read: lets the connection serve again if the server ends soon. */
  release(): void {
    if (this.#closed) return;
    this.#detach();
    this.#answer.resume();
    if (this.#answer.complete) return;
    const linger = setTimeout(() => this.#answer.destroy(), LINGER_MS).unref();
    this.#answer.once('close', () => clearTimeout(linger));
  }

  /** Cuts the connection. */
  close(): void {
    if (this.#closed) return;
    this.#detach();
    this.#answer.destroy();
  }

  #detach(): void {
    this.#closed = true;
    clearTimeout(this.#idle);
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#last ??= END;
    this.#wake?.();
  }

  #take(text: string): void {
    if (this.#closed) return;
    this.#idle.refresh();
    this.#waiting.push(text);
    this.#waitingChars += text.length;
    if (this.#waitingChars > HIGH_WATER_CHARS) this.#answer.pause();
    this.#wake?.();
  }

  #drain(): string {
    const text = this.#waiting.length === 1 ? this.#waiting[0]! : this.#waiting.join('');
    this.#waiting = [];
    this.#waitingChars = 0;
    if (this.#answer.isPaused()) this.#answer.resume();
    return text;
  }

  #finish(last: Chunk): void {
    if (this.#last) return;
    this.#last = last;
    clearTimeout(this.#idle);
    if (last.kind === 'failed') this.#answer.destroy();
    this.#wake?.();
  }
}

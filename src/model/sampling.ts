/** One response as an async iterable: opens the request at the first read, decodes chunk by chunk, ends the socket. */
import type { ChunkReader } from './chunk-reader.js';
import { EventBuffer } from './event-buffer.js';
import { type ProviderFacts, streamFailure } from './failure.js';
import type { HttpResult } from './http.js';
import type { ModelEvent } from './port.js';
import { SseParser } from './sse.js';

/** Turns the payloads of one response into events. One instance per response. */
export interface WireDecoder {
  /** One `data` payload, or the whole body of a server that does not stream. What it does not understand is skipped. */
  payload(data: string): void;
  /** The body ended without the wire's last word. */
  end(): void;
}

export interface SamplingSource {
  readonly provider: ProviderFacts;
  readonly model: string;
  open(signal: AbortSignal): Promise<HttpResult>;
  decoder(out: EventBuffer): WireDecoder;
}

type Next = IteratorResult<ModelEvent, undefined>;

const DONE: Next = { done: true, value: undefined };

export class Sampling implements AsyncIterableIterator<ModelEvent, undefined> {
  readonly #source: SamplingSource;
  readonly #signal: AbortSignal;
  readonly #buffer = new EventBuffer();
  readonly #decoder: WireDecoder;
  readonly #parser: SseParser;
  #reader: ChunkReader | undefined;
  /** The body so far, when the server does not stream. */
  #document: string[] | undefined;
  #finished = false;

  constructor(source: SamplingSource, signal: AbortSignal) {
    this.#source = source;
    this.#signal = signal;
    this.#decoder = source.decoder(this.#buffer);
    this.#parser = new SseParser((data) => this.#decoder.payload(data));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Next> {
    const ready = this.#buffer.shift();
    if (ready) return Promise.resolve({ done: false, value: ready });
    return this.#finished ? Promise.resolve(DONE) : this.#pull();
  }

  /** The reader left. After the response's last word the connection may serve again; before it, it is cut. */
  return(): Promise<Next> {
    this.#finished = true;
    if (this.#buffer.ended) this.#reader?.release();
    else this.#reader?.close();
    return Promise.resolve(DONE);
  }

  async #pull(): Promise<Next> {
    try {
      while (this.#buffer.isEmpty && !this.#finished) await this.#readMore();
    } catch (error) {
      this.#finished = true;
      this.#reader?.close();
      throw error;
    }
    const event = this.#buffer.shift();
    return event ? { done: false, value: event } : DONE;
  }

  async #readMore(): Promise<void> {
    if (!this.#reader) return this.#open();
    const chunk = await this.#reader.read();
    switch (chunk.kind) {
      case 'text':
        if (this.#document) this.#document.push(chunk.text);
        else if (!this.#parser.push(chunk.text)) this.#fail('an event of the stream is too large');
        break;
      case 'end':
        if (this.#document) this.#decoder.payload(this.#document.join(''));
        else this.#parser.end();
        this.#decoder.end();
        this.#finished = true;
        break;
      case 'failed':
        this.#buffer.push({ type: 'failed', error: chunk.error });
        break;
    }
    if (this.#buffer.ended) this.#finished = true;
    // Not waiting for the server to close: some hold the socket open after their last word.
    if (this.#finished) this.#reader.release();
  }

  async #open(): Promise<void> {
    const result = await this.#source.open(this.#signal);
    if (result.ok) {
      this.#reader = result.reader;
      if (result.reader.isJson) this.#document = [];
    } else {
      this.#buffer.push({ type: 'failed', error: result.error });
      this.#finished = true;
    }
  }

  #fail(message: string): void {
    const { provider, model } = this.#source;
    this.#buffer.push({ type: 'failed', error: streamFailure(provider, model, 'server_error', message) });
    this.#reader?.close();
  }
}

/**
 * A JSON-RPC peer over lines: requests in both directions, without the `jsonrpc` field, as the protocol has it. Lines go out
 * in the order of the calls; a reader that is slow makes them wait in memory.
 */
import type { Readable, Writable } from 'node:stream';

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Thrown by a method to answer with an error. */
export class RpcFailure extends Error {
  readonly error: RpcError;
  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.error = { code, message, ...(data === undefined ? {} : { data }) };
  }
}

export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INTERNAL_ERROR = -32603;

export type Params = Readonly<Record<string, unknown>>;
export type Reply = { readonly result: unknown } | { readonly error: RpcError };

export interface RpcHandlers {
  request(method: string, params: Params): Promise<unknown>;
  /** A reply came that nobody waits for: late, twice, or to nothing that was asked. */
  strayReply(id: unknown): void;
}

interface Question {
  readonly message: { readonly id: number; readonly method: string; readonly params: unknown };
  readonly settle: (reply: Reply) => void;
}

export class RpcPeer {
  readonly #output: Writable;
  readonly #waiting = new Map<number, Question>();
  #nextId = 0;

  constructor(output: Writable) {
    this.#output = output;
  }

  /** Reads messages until the input ends. */
  async serve(input: Readable, handlers: RpcHandlers): Promise<void> {
    let rest = '';
    input.setEncoding('utf8');
    for await (const chunk of input) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line.trim() !== '') this.#take(line, handlers);
    }
  }

  notify(method: string, params: unknown): void {
    this.#send({ method, params });
  }

  /** Asks the client. The reply may be an error; it is a value, since it is the client's word. */
  ask(method: string, params: unknown, sent = true): { id: number; reply: Promise<Reply> } {
    const message = { id: this.#nextId++, method, params };
    const reply = new Promise<Reply>((settle) => this.#waiting.set(message.id, { message, settle }));
    if (sent) this.#send(message);
    return { id: message.id, reply };
  }

  /** Sends a question that is still open once more, under its old id: still one answer counts. */
  askAgain(id: number): void {
    const question = this.#waiting.get(id);
    if (question) this.#send(question.message);
  }

  /** Nobody waits for this reply any more. */
  forget(id: number): void {
    this.#waiting.delete(id);
  }

  #take(line: string, handlers: RpcHandlers): void {
    const message = parse(line);
    if (!message) return this.#send({ id: null, error: { code: -32700, message: 'the line is no JSON object' } });
    const { id, method, params } = message;
    if (typeof method !== 'string') return this.#settle(message, handlers);
    if (id === undefined) return; // `initialized`, and what newer clients may tell
    void this.#answer(id, this.#request(method, params ?? {}, handlers)); // never rejects
  }

  async #request(method: string, params: unknown, handlers: RpcHandlers): Promise<unknown> {
    if (!isObject(params)) throw new RpcFailure(INVALID_REQUEST, 'invalid field `params`: it must be an object');
    return await handlers.request(method, params);
  }

  #settle(message: Record<string, unknown>, handlers: RpcHandlers): void {
    const { id, error, result } = message;
    const question = typeof id === 'number' ? this.#waiting.get(id) : undefined;
    if (!question) return handlers.strayReply(id);
    this.#waiting.delete(question.message.id);
    const words = isObject(error) && typeof error['message'] === 'string' ? error['message'] : 'no reason given';
    question.settle(error === undefined ? { result } : { error: { code: INTERNAL_ERROR, message: words } });
  }

  async #answer(id: unknown, result: Promise<unknown>): Promise<void> {
    try {
      this.#send({ id, result: (await result) ?? {} });
    } catch (error) {
      const known =
        error instanceof RpcFailure
          ? error.error
          : { code: INTERNAL_ERROR, message: error instanceof Error ? error.message : String(error) };
      this.#send({ id, error: known });
    }
  }

  #send(message: unknown): void {
    this.#output.write(`${JSON.stringify(message)}\n`);
  }
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

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
type Reply = { readonly result: unknown } | { readonly error: RpcError };

export interface RpcHandlers {
  request(method: string, params: Params): Promise<unknown>;
  notification(method: string, params: Params): void;
}

export class RpcPeer {
  readonly #output: Writable;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
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
  ask(method: string, params: unknown): { id: number; reply: Promise<Reply> } {
    const id = this.#nextId++;
    const reply = new Promise<Reply>((resolve) => this.#waiting.set(id, resolve));
    this.#send({ id, method, params });
    return { id, reply };
  }

  /** Nobody waits for this reply any more. */
  forget(id: number): void {
    this.#waiting.delete(id);
  }

  #take(line: string, handlers: RpcHandlers): void {
    const message = parse(line);
    if (!message) return this.#send({ id: null, error: { code: -32700, message: 'the line is no JSON object' } });
    const { id, method } = message;
    if (typeof method !== 'string') return this.#settle(message);
    const params = isObject(message['params']) ? message['params'] : {};
    if (id === undefined) return handlers.notification(method, params);
    void this.#answer(id, handlers.request(method, params)); // never rejects
  }

  #settle(message: Record<string, unknown>): void {
    const id = message['id'];
    const settle = typeof id === 'number' ? this.#waiting.get(id) : undefined;
    if (typeof id === 'number') this.#waiting.delete(id);
    settle?.(
      isObject(message['error']) ? { error: message['error'] as unknown as RpcError } : { result: message['result'] },
    );
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

/**
 * MCP over the standard streams of a program. Ours instead of the SDK's because the whole process tree must end with the
 * connection, and because a server that floods its standard error must neither block nor fill the memory.
 */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { type ProcessExit, type RunningProcess, spawnProcess } from '../../process/index.js';
import type { McpSdk } from './sdk.js';

export interface StdioProgram {
  readonly argv: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** One message may be this long; a longer one is a broken server. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
/** What is kept of standard error, to explain a death. */
const KEPT_ERROR_BYTES = 4096;
const SHOWN_ERROR_LINES = 5;
/** Standard input is not closed before: SIGTERM is what every server understands. */
const GRACE_MS = 1000;

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #program: StdioProgram;
  readonly #sdk: McpSdk;
  #process: RunningProcess | undefined;
  #exit: ProcessExit | undefined;
  #fault: string | undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #errorTail = Buffer.alloc(0);

  constructor(program: StdioProgram, sdk: McpSdk) {
    this.#program = program;
    this.#sdk = sdk;
  }

  async start(): Promise<void> {
    const { argv, cwd, env } = this.#program;
    const options = { cwd, env, tty: false, stdin: 'pipe' } as const;
    this.#process = await spawnProcess(argv, options, { onErrorOutput: (bytes) => this.#keepError(bytes) });
    this.#process.onOutput((bytes) => this.#take(bytes));
    void this.#process.exited.then((exit) => {
      this.#exit = exit;
      this.onclose?.();
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!this.#process || this.#exit) throw new Error('the server is not running');
    await this.#process.write(this.#sdk.serializeMessage(message));
  }

  /** Ends the program with everything it started. */
  async close(): Promise<void> {
    await this.#process?.terminate(GRACE_MS);
  }

  /** How it ended and its last words, for a person; empty while it runs. */
  describeEnd(): string {
    if (!this.#exit) return '';
    const { code, signal } = this.#exit;
    const how = this.#fault ?? (signal === null ? `it exited with status ${code}` : `it was ended by ${signal}`);
    const lines = this.#errorTail.toString().trim().split('\n').slice(-SHOWN_ERROR_LINES).join('\n');
    return lines === '' ? how : `${how}; the end of its error output:\n${lines}`;
  }

  #take(bytes: Buffer): void {
    let rest = bytes;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      const line = Buffer.concat([...this.#chunks, rest.subarray(0, end)]).toString();
      this.#chunks = [];
      this.#bytes = 0;
      rest = rest.subarray(end + 1);
      this.#line(line);
    }
    if (rest.length === 0) return;
    this.#chunks.push(rest);
    this.#bytes += rest.length;
    if (this.#bytes <= MAX_MESSAGE_BYTES) return;
    this.#chunks = [];
    this.#bytes = 0;
    this.#fault = `it sent a message longer than ${MAX_MESSAGE_BYTES} bytes and was ended`;
    this.#process?.kill('SIGKILL');
  }

  /** Servers that print banners to standard output are common; what is no message is skipped. */
  #line(line: string): void {
    if (line.trim() === '') return;
    let message: JSONRPCMessage;
    try {
      message = this.#sdk.deserializeMessage(line);
    } catch {
      this.onerror?.(new Error('a line of output was not a JSON-RPC message'));
      return;
    }
    this.onmessage?.(message);
  }

  #keepError(bytes: Buffer): void {
    this.#errorTail = Buffer.concat([this.#errorTail, bytes.subarray(-KEPT_ERROR_BYTES)]).subarray(-KEPT_ERROR_BYTES);
  }
}

/** One live connection to a server: transport, handshake, tool list. Opened again after the server has died. */

import path from 'node:path';
import type { Tool as ServerTool } from '@modelcontextprotocol/client';
import { VERSION } from '../../lib/index.js';
import type { Environment } from '../../process/index.js';
import { Deadline } from './deadline.js';
import type { McpElicitation, McpElicitationAnswer } from './elicitation.js';
import { createHttpTransport } from './http-transport.js';
import type { McpServerConfig } from './read-servers.js';
import { type HttpTransport, loadMcpSdk, type McpClient, type McpSdk } from './sdk.js';
import { buildServerEnv } from './server-env.js';
import { StdioTransport } from './stdio-transport.js';

export type { ServerTool };

export interface SessionDeps {
  readonly env: Environment;
  /** Absolute; where servers run that name no directory. */
  readonly cwd: string;
  /** Ends everything. */
  readonly signal: AbortSignal;
  elicit(question: McpElicitation, signal: AbortSignal): Promise<McpElicitationAnswer>;
}

/** The SDK's own time limit, out of the way: ours can stand still. */
export const NO_SDK_TIMEOUT_MS = 2 ** 31 - 1;

export class McpSession {
  readonly client: McpClient;
  readonly #transport: StdioTransport | HttpTransport;
  #tools: readonly ServerTool[] = [];
  #hasEnded = false;

  private constructor(client: McpClient, transport: StdioTransport | HttpTransport) {
    this.client = client;
    this.#transport = transport;
    client.onclose = () => this.markEnded();
  }

  /** @throws Error with a sentence that says why the server cannot be used. Nothing is left running then. */
  static async open(config: McpServerConfig, deps: SessionDeps): Promise<McpSession> {
    const sdk = await loadMcpSdk();
    const transport = createTransport(config, deps, sdk);
    const session = new McpSession(createClient(config.name, deps, sdk), transport);
    const deadline = new Deadline(config.startupTimeoutMs);
    const signal = AbortSignal.any([deadline.signal, deps.signal]);
    try {
      await session.client.connect(transport, { signal, timeout: NO_SDK_TIMEOUT_MS });
      await session.#loadTools(signal);
      session.#followToolChanges(deps.signal);
      return session;
    } catch (error) {
      const late = `it did not start within ${config.startupTimeoutMs / 1000} s (startup_timeout_sec)`;
      const why = deadline.isOver ? late : session.describe(error);
      await session.close();
      throw new Error(why, { cause: error });
    } finally {
      deadline.clear();
    }
  }

  /** Every tool the server has, in its order. */
  get tools(): readonly ServerTool[] {
    return this.#tools;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The next call opens a new session. */
  markEnded(): void {
    this.#hasEnded = true;
  }

  /** What went wrong, for the model and a person: the server's end if that is the cause, else the error itself. */
  describe(error: unknown): string {
    const end = this.#transport instanceof StdioTransport ? this.#transport.describeEnd() : '';
    return end === '' ? errorText(error) : end;
  }

  async close(): Promise<void> {
    this.#hasEnded = true;
    await this.client.close().catch(() => {}); // it is gone, which is what we want
    await this.#transport.close().catch(() => {});
  }

  async #loadTools(signal: AbortSignal): Promise<void> {
    if (!this.client.getServerCapabilities()?.tools) return; // asked all the same, the SDK prints a line to our output
    const { tools } = await this.client.listTools(undefined, {
      signal,
      timeout: NO_SDK_TIMEOUT_MS,
      cacheMode: 'bypass',
    });
    this.#tools = tools;
  }

  #followToolChanges(signal: AbortSignal): void {
    this.client.setNotificationHandler('notifications/tools/list_changed', () => {
      this.#loadTools(signal).catch(() => {}); // the old list stays
    });
  }
}

function createTransport(config: McpServerConfig, deps: SessionDeps, sdk: McpSdk): StdioTransport | HttpTransport {
  const { transport } = config;
  if (transport.type === 'http') return createHttpTransport(transport, deps.env, sdk);
  const cwd = path.resolve(deps.cwd, transport.cwd ?? '.');
  return new StdioTransport({ argv: transport.argv, cwd, env: buildServerEnv(transport, deps.env) }, sdk);
}

function createClient(server: string, deps: SessionDeps, sdk: McpSdk): McpClient {
  const identity = { name: 'turnwright', version: VERSION };
  const client = new sdk.Client(identity, { capabilities: { elicitation: { form: {}, url: {} } } });
  client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
    const ask =
      params.mode === 'url'
        ? ({ mode: 'url', url: params.url } as const)
        : ({ mode: 'form', requestedSchema: params.requestedSchema } as const);
    const question = { server, requestId: String(mcpReq.id), message: params.message, ask };
    const { action, content } = await deps.elicit(question, mcpReq.signal);
    return { action, ...(content === undefined ? {} : { content: { ...content } }) };
  });
  return client;
}

function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const status = 'status' in error ? error.status : undefined;
  if (status === 401 || status === 403)
    return `it refuses the credentials (HTTP ${status}); check bearer_token_env_var and the headers`;
  const { code, syscall, path: place } = error as NodeJS.ErrnoException;
  // A bare name is looked for along PATH; a folder there that may not be entered turns "not found" into EACCES.
  const bareName = typeof place === 'string' && !place.includes('/');
  if (syscall === 'spawn' && (code === 'ENOENT' || (code === 'EACCES' && bareName)))
    return `its program ${JSON.stringify(place)} was not found`;
  if (syscall === 'chdir') return `its directory ${JSON.stringify(place)} cannot be entered (${code})`;
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error.message}${cause}`;
}

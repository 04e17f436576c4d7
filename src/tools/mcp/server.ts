/**
 * One configured server over its life: starting → ready → ended → opened again by the next call. A server that never
 * started stays failed.
 */
import type { RequestOptions } from '@modelcontextprotocol/client';
import type { CallContext } from '../../orchestrator/index.js';
import type { Environment } from '../../process/index.js';
import { Deadline } from './deadline.js';
import {
  type AskElicitation,
  answerElicitation,
  type McpElicitation,
  type McpElicitationAnswer,
} from './elicitation.js';
import type { McpServerConfig } from './read-servers.js';
import type { McpClient } from './sdk.js';
import { McpSession, NO_SDK_TIMEOUT_MS, type ServerTool, type SessionDeps } from './session.js';

export interface McpDeps {
  readonly env: Environment;
  /** Absolute; where servers run that name no directory. */
  readonly cwd: string;
  /** Absent: questions of servers are declined. */
  readonly elicit?: AskElicitation;
}

/** A call that came to nothing. The message names the server and is for the model and for people. */
export class McpCallError extends Error {
  readonly timedOut: boolean;
  constructor(message: string, options: { timedOut?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.timedOut = options.timedOut ?? false;
  }
}

interface ActiveCall {
  readonly context: CallContext;
  readonly deadline: Deadline;
  readonly signal: AbortSignal;
}

export class McpServer {
  readonly config: McpServerConfig;
  /** Resolves when the server is ready or has failed; never rejects. */
  readonly started: Promise<void>;
  readonly #deps: SessionDeps;
  readonly #end: AbortController;
  readonly #active = new Set<ActiveCall>();
  #session: McpSession | undefined;
  #opening: Promise<McpSession> | undefined;
  #failure: string | undefined;

  constructor(config: McpServerConfig, deps: McpDeps, signal: AbortSignal) {
    this.config = config;
    this.#end = new AbortController();
    const elicit = (question: McpElicitation, asked: AbortSignal) => this.#elicit(question, deps.elicit, asked);
    const ends = AbortSignal.any([signal, this.#end.signal]);
    this.#deps = { env: deps.env, cwd: deps.cwd, signal: ends, elicit };
    this.started = this.#open().then(
      () => {},
      (error: Error) => {
        this.#failure = error.message;
      },
    );
    signal.addEventListener('abort', () => void this.close(), { once: true });
  }

  /** Why it never started; undefined while it starts and once it has. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** The tools that configuration lets through; empty until it has started. */
  get tools(): readonly ServerTool[] {
    const { enabledTools, disabledTools } = this.config;
    const isOn = (name: string) => (enabledTools?.includes(name) ?? true) && !disabledTools.includes(name);
    return (this.#session?.tools ?? []).filter((tool) => isOn(tool.name));
  }

  /** Names in `enabled_tools` that the server does not have. */
  get missingTools(): readonly string[] {
    const session = this.#session;
    if (!session) return [];
    const known = new Set(session.tools.map((tool) => tool.name));
    return (this.config.enabledTools ?? []).filter((name) => !known.has(name));
  }

  /**
   * Sends a request for a call, within the server's time limit. An ended server is started once more. Aborting tells the
   * server that the request is cancelled.
   * @throws McpCallError; `signal.reason` when aborted.
   */
  async request<T>(
    context: CallContext,
    signal: AbortSignal,
    send: (client: McpClient, options: RequestOptions) => Promise<T>,
  ): Promise<T> {
    const session = await this.#liveSession(signal);
    const deadline = new Deadline(this.config.toolTimeoutMs);
    const active: ActiveCall = { context, deadline, signal };
    this.#active.add(active);
    try {
      const limits = { signal: AbortSignal.any([signal, deadline.signal]), timeout: NO_SDK_TIMEOUT_MS };
      return await send(session.client, limits);
    } catch (error) {
      signal.throwIfAborted();
      throw this.#callError(session, deadline, error);
    } finally {
      this.#active.delete(active);
      deadline.clear();
    }
  }

  async close(): Promise<void> {
    this.#end.abort(new Error('the thread was closed'));
    await this.#opening?.catch(() => {});
    await this.#session?.close();
  }

  /** Calls share one start. What a dead server started may still run, so it is put away first. */
  #open(): Promise<McpSession> {
    this.#opening ??= this.#replaceSession().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #replaceSession(): Promise<McpSession> {
    await this.#session?.close();
    this.#session = await McpSession.open(this.config, this.#deps);
    return this.#session;
  }

  async #liveSession(signal: AbortSignal): Promise<McpSession> {
    if (this.#session && !this.#session.hasEnded) return this.#session;
    if (this.#failure !== undefined) throw this.#error(`never started: ${this.#failure}`);
    const before = this.#session;
    try {
      return await abortable(this.#open(), signal);
    } catch (error) {
      signal.throwIfAborted();
      const why = error instanceof Error ? error.message : String(error);
      throw this.#error(`${before ? 'had ended and could not be started again' : 'could not be started'}: ${why}`);
    }
  }

  #callError(session: McpSession, deadline: Deadline, error: unknown): McpCallError {
    if (deadline.isOver) {
      const text = `did not answer within ${this.config.toolTimeoutMs / 1000} s; the request was cancelled, but what it did by then is unknown`;
      return this.#error(text, { timedOut: true, cause: error });
    }
    if (session.hasEnded)
      return this.#error(`ended before it answered, so what the call did is unknown: ${session.describe(error)}`, {
        cause: error,
      });
    const isUnknownSession = error instanceof Error && 'status' in error && error.status === 404;
    if (isUnknownSession) session.markEnded();
    return this.#error(`answered with an error: ${session.describe(error)}`, { cause: error });
  }

  #error(text: string, options: { timedOut?: boolean; cause?: unknown } = {}): McpCallError {
    return new McpCallError(`MCP server "${this.config.name}" ${text}`, options);
  }

  async #elicit(
    question: McpElicitation,
    ask: AskElicitation | undefined,
    signal: AbortSignal,
  ): Promise<McpElicitationAnswer> {
    const active = [...this.#active];
    const latest = active.at(-1);
    const { threadId, turnId, callId } = latest?.context ?? {};
    const call =
      threadId !== undefined && turnId !== undefined && callId !== undefined ? { threadId, turnId, callId } : undefined;
    const ends = AbortSignal.any([signal, this.#deps.signal, ...(latest ? [latest.signal] : [])]);
    for (const { deadline } of active) deadline.pause();
    try {
      const asked = { ...question, ...(call ? { call } : {}) };
      return await answerElicitation(
        asked,
        ask,
        active.map((one) => one.context),
        ends,
      );
    } finally {
      for (const { deadline } of active) deadline.resume();
    }
  }
}

/** Stops waiting, not the work: another call may wait for the same start. */
function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

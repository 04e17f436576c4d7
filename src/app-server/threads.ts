/** The threads that are loaded, and how one is opened. */
import { findThread, listThreads, type SessionRequest } from '../engine/index.js';
import { type ClientTools, readClientTools } from './client-tools.js';
import { type OpenThread, openThread } from './open-thread.js';
import { optionalFlag, optionalObject, requiredText } from './params.js';
import { INVALID_REQUEST, type Params, RpcFailure, type RpcPeer } from './rpc.js';
import type { AppServerIo } from './server.js';
import { absolutePath, configOverrides, threadFlags } from './settings.js';
import { loadHistory } from './thread-history.js';

export class Threads {
  readonly io: AppServerIo;
  readonly peer: RpcPeer;
  readonly #open = new Map<string, OpenThread>();
  /** Resumes that run, so that two requests for one thread do not open it twice. */
  readonly #opening = new Map<string, Promise<OpenThread>>();

  constructor(io: AppServerIo, peer: RpcPeer) {
    this.io = io;
    this.peer = peer;
  }

  get ids(): readonly string[] {
    return [...this.#open.keys()];
  }

  find(threadId: string): OpenThread | undefined {
    return this.#open.get(threadId);
  }

  /** The loaded thread a request names. */
  of(params: Params): OpenThread {
    const id = requiredText(params, 'threadId');
    const open = this.#open.get(id);
    if (!open) throw new RpcFailure(INVALID_REQUEST, `thread not found: ${id}`);
    return open;
  }

  async start(params: Params): Promise<OpenThread> {
    return this.#keep(await this.#openOne(params));
  }

  /** The thread of `threadId`, loaded if it is not. */
  async resume(threadId: string, params: Params): Promise<OpenThread> {
    const known = this.#open.get(threadId) ?? this.#opening.get(threadId);
    if (known) return known;
    const opening = this.#openOne(params, threadId).then((open) => this.#keep(open));
    this.#opening.set(threadId, opening);
    return await opening.finally(() => this.#opening.delete(threadId));
  }

  /** The thread a person means by an id, its unique beginning, or a name. Throws `TW_THREAD_UNKNOWN`. */
  async idOf(wanted: string): Promise<string> {
    return this.#open.has(wanted) ? wanted : await findThread(this.io.home, wanted);
  }

  /** How a session is asked for; `params` may override what configuration says. */
  sessionRequest(params: Params, clientTools?: ClientTools): SessionRequest {
    const { bypass_hook_trust: bypass, ...config } = optionalObject(params, 'config') ?? {};
    return {
      cwd: absolutePath(params, 'cwd') ?? this.io.cwd,
      env: this.io.env,
      overrides: configOverrides(config),
      flags: threadFlags(params),
      bypassHookTrust: bypass === true,
      ephemeral: optionalFlag(params, 'ephemeral'),
      interactive: true,
      defaultSandbox: 'read-only',
      notice: (text) => this.io.notice(text),
      ...(clientTools ? { extraTools: clientTools.tools } : {}),
    };
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#opening.values());
    await Promise.all([...this.#open.values()].map((open) => open[Symbol.asyncDispose]()));
  }

  async #openOne(params: Params, resumeId?: string): Promise<OpenThread> {
    const clientTools = readClientTools(params);
    const resume = resumeId === undefined ? {} : { resume: await this.#stored(resumeId) };
    return await openThread({
      request: this.sessionRequest(params, clientTools),
      peer: this.peer,
      clientTools,
      onUnused: (open) => void this.#unload(open),
      ...resume,
    });
  }

  async #stored(threadId: string) {
    const history = await loadHistory(this.io.home, threadId);
    const listed = await listThreads({ home: this.io.home, limit: Number.POSITIVE_INFINITY });
    return { threadId, history, name: listed.find((one) => one.threadId === threadId)?.name };
  }

  #keep(open: OpenThread): OpenThread {
    this.#open.set(open.thread.id, open);
    return open;
  }

  async #unload(open: OpenThread): Promise<void> {
    const { id } = open.thread;
    if (this.#open.get(id) !== open) return;
    this.#open.delete(id);
    await open[Symbol.asyncDispose]().catch((error: unknown) => this.io.notice(`warning: thread ${id}: ${error}`));
    this.peer.notify('thread/closed', { threadId: id });
  }
}

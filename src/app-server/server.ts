/** The app-server: one method table over threads. Only what is listed here exists; anything else is told so. */
import os from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { type Admission, findThread, listThreads, type SessionRequest, VERSION } from '../engine/index.js';
import { type TurnSettings, TurnwrightError } from '../protocol/index.js';
import { type OpenThread, openThread } from './open-thread.js';
import { INVALID_REQUEST, METHOD_NOT_FOUND, type Params, RpcFailure, RpcPeer } from './rpc.js';
import { configOverrides, readInput, threadFlags, turnOverrides, wireSandbox } from './settings.js';

export interface AppServerIo {
  readonly input: Readable;
  readonly output: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Config home, for `initialize` and for finding threads. */
  readonly home: string;
  notice(text: string): void;
}

/** Serves until the input ends; then every turn is interrupted and every process ended. */
export async function runAppServer(io: AppServerIo): Promise<void> {
  const peer = new RpcPeer(io.output);
  const server = new AppServer(io, peer);
  try {
    await peer.serve(io.input, { request: (method, params) => server.handle(method, params), notification: () => {} });
  } finally {
    await server.close();
  }
}

class AppServer {
  readonly #io: AppServerIo;
  readonly #peer: RpcPeer;
  readonly #threads = new Map<string, OpenThread>();
  #initialized = false;

  constructor(io: AppServerIo, peer: RpcPeer) {
    this.#io = io;
    this.#peer = peer;
  }

  async handle(method: string, params: Params): Promise<unknown> {
    if (method === 'initialize') return this.#initialize();
    if (!this.#initialized) throw new RpcFailure(INVALID_REQUEST, 'Not initialized');
    switch (method) {
      case 'thread/start':
        return this.#startThread(params);
      case 'thread/resume':
        return this.#resumeThread(params);
      case 'thread/read':
        return { thread: this.#wireThread(this.#thread(params)) };
      case 'thread/list':
        return this.#listThreads(params);
      case 'thread/unsubscribe':
        return {};
      case 'turn/start':
        return this.#startTurn(params);
      case 'turn/steer':
        return this.#steerTurn(params);
      case 'turn/interrupt':
        return this.#interruptTurn(params);
      default:
        throw new RpcFailure(METHOD_NOT_FOUND, `method not found: ${method}`);
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#threads.values()].map((open) => open[Symbol.asyncDispose]()));
  }

  #initialize(): unknown {
    if (this.#initialized) throw new RpcFailure(INVALID_REQUEST, 'Already initialized');
    this.#initialized = true;
    const userAgent = `turnwright/${VERSION} (${os.type()} ${os.release()}; ${os.arch()})`;
    return {
      userAgent,
      codexHome: this.#io.home,
      platformFamily: process.platform === 'win32' ? 'windows' : 'unix',
      platformOs: process.platform,
    };
  }

  async #startThread(params: Params): Promise<unknown> {
    const open = await this.#open(params);
    return this.#opened(open);
  }

  async #resumeThread(params: Params): Promise<unknown> {
    const id = textOf(params, 'threadId');
    const running = this.#threads.get(id);
    if (running) return this.#opened(running);
    const found = await findThread(this.#io.home, id).catch((error: unknown) => {
      throw new RpcFailure(INVALID_REQUEST, error instanceof Error ? error.message : String(error));
    });
    return this.#opened(await this.#open(params, found));
  }

  async #open(params: Params, resumeId?: string): Promise<OpenThread> {
    const config = params['config'];
    const bypassHookTrust =
      typeof config === 'object' && config !== null && (config as Params)['bypass_hook_trust'] === true;
    const request: SessionRequest = {
      cwd: typeof params['cwd'] === 'string' ? params['cwd'] : this.#io.cwd,
      env: this.#io.env,
      overrides: configOverrides(config).filter((override) => !override.startsWith('bypass_hook_trust=')),
      flags: threadFlags(params),
      bypassHookTrust,
      ephemeral: params['ephemeral'] === true,
      interactive: true,
      defaultSandbox: 'read-only',
      notice: (text) => this.#io.notice(text),
    };
    const open = await openThread(request, this.#peer, resumeId).catch((error: unknown) => {
      if (error instanceof TurnwrightError)
        throw new RpcFailure(INVALID_REQUEST, error.message, { reason: error.code });
      throw error;
    });
    this.#threads.set(open.thread.id, open);
    return open;
  }

  #opened(open: OpenThread): unknown {
    const { settings } = open;
    setImmediate(() => this.#peer.notify('thread/started', { thread: this.#wireThread(open) }));
    return {
      thread: this.#wireThread(open),
      model: settings.model,
      modelProvider: settings.provider,
      cwd: settings.cwd,
      approvalPolicy: settings.approvalPolicy,
      approvalsReviewer: 'user',
      sandbox: wireSandbox(settings.sandbox),
      reasoningEffort: settings.reasoningEffort ?? null,
      serviceTier: null,
      instructionSources: [],
    };
  }

  #wireThread(open: OpenThread): unknown {
    const { thread, settings } = open;
    const now = Math.floor(Date.now() / 1000);
    const status = thread.status.kind === 'idle' ? { type: 'idle' } : { type: 'active', activeFlags: [] };
    return {
      id: thread.id,
      sessionId: thread.id,
      preview: '',
      name: null,
      cwd: settings.cwd,
      model: settings.model,
      modelProvider: settings.provider,
      createdAt: now,
      updatedAt: now,
      recencyAt: now,
      status,
      path: open.session.threadFile(thread.id) ?? null,
      cliVersion: VERSION,
      source: 'appServer',
      gitInfo: null,
      ephemeral: false,
      forkedFromId: null,
      turns: [],
    };
  }

  async #listThreads(params: Params): Promise<unknown> {
    const limit = typeof params['limit'] === 'number' ? params['limit'] : 50;
    const cwd = typeof params['cwd'] === 'string' ? { cwd: params['cwd'] } : {};
    const data = await listThreads({ home: this.#io.home, limit, ...cwd });
    return { data: data.map((one) => ({ id: one.threadId, ...one })), nextCursor: null, backwardsCursor: null };
  }

  /** Starts a turn or joins the running one; clients compare ids to know which. */
  async #startTurn(params: Params): Promise<unknown> {
    const open = this.#thread(params);
    const settings = turnOverrides(params, open.settings);
    const admission = await open.thread.submit(readInput(params['input']), { settings: { ...settings } });
    const turnId = admitted(admission);
    const { outputSchema: _onlyThisTurn, ...sticky } = settings;
    open.settings = { ...open.settings, ...sticky };
    return { turn: open.mapper.turn('inProgress', { id: turnId }) };
  }

  async #steerTurn(params: Params): Promise<unknown> {
    const open = this.#thread(params);
    const delivery =
      params['delivery'] === 'now' || params['delivery'] === 'next_step'
        ? { delivery: params['delivery'] as TurnSettings['steerDelivery'] }
        : {};
    const admission = await open.thread.submit(readInput(params['input']), {
      expectedTurnId: textOf(params, 'expectedTurnId'),
      ...delivery,
    });
    return { turnId: admitted(admission) };
  }

  async #interruptTurn(params: Params): Promise<unknown> {
    const open = this.#thread(params);
    await open.thread.interrupt(textOf(params, 'turnId')).catch((error: unknown) => {
      throw new RpcFailure(INVALID_REQUEST, error instanceof Error ? error.message : String(error));
    });
    return {};
  }

  #thread(params: Params): OpenThread {
    const id = textOf(params, 'threadId');
    const open = this.#threads.get(id);
    if (!open) throw new RpcFailure(INVALID_REQUEST, `thread not found: ${id}`);
    return open;
  }
}

/** The id of the turn the input went to, or the refusal in the protocol's words. */
function admitted(admission: Admission): string {
  if (admission.kind !== 'refused') return admission.turnId;
  const { refusal } = admission;
  switch (refusal.reason) {
    case 'noActiveTurn':
      throw new RpcFailure(INVALID_REQUEST, 'no active turn to steer');
    case 'expectedTurnMismatch':
      throw new RpcFailure(
        INVALID_REQUEST,
        `expected turn ${refusal.expected} but the active turn is ${refusal.actual}`,
      );
    case 'notSteerable':
      throw new RpcFailure(INVALID_REQUEST, `a ${refusal.turnKind} turn cannot be steered`, {
        codexErrorInfo: { activeTurnNotSteerable: { turnKind: refusal.turnKind } },
      });
    case 'emptyInput':
      throw new RpcFailure(INVALID_REQUEST, 'input must not be empty');
    case 'outputSchemaMismatch':
      throw new RpcFailure(INVALID_REQUEST, 'the active turn has no output schema');
    case 'threadBusy':
      throw new RpcFailure(INVALID_REQUEST, 'the thread has an active turn');
  }
}

function textOf(params: Params, key: string): string {
  const value = params[key];
  if (typeof value !== 'string') throw new RpcFailure(INVALID_REQUEST, `missing field \`${key}\``);
  return value;
}

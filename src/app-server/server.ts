/** The app-server: one method table. Only what is listed here exists; anything else is told so. */
import { once } from 'node:events';
import os from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { VERSION } from '../engine/index.js';
import { TurnwrightError } from '../protocol/index.js';
import { lookUpMethods } from './look-up-methods.js';
import { INVALID_REQUEST, METHOD_NOT_FOUND, type Params, RpcFailure, RpcPeer } from './rpc.js';
import { threadMethods } from './thread-methods.js';
import { Threads } from './threads.js';
import { turnMethods } from './turn-methods.js';

export interface AppServerIo {
  readonly input: Readable;
  readonly output: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Config home, for `initialize` and for finding threads. */
  readonly home: string;
  /** Ends the server as the end of the input does. */
  readonly stop?: AbortSignal;
  notice(text: string): void;
}

/** Resolves to the result. Throws `RpcFailure`, or a `TurnwrightError`, which is told as −32600 with its code. */
export type Method = (params: Params) => Promise<unknown>;
export type Methods = Readonly<Record<string, Method>>;

/** Serves until the input ends; then every turn is interrupted and every process ended. */
export async function runAppServer(io: AppServerIo): Promise<void> {
  const peer = new RpcPeer(io.output);
  const threads = new Threads(io, peer);
  const request = afterHandshake({ ...threadMethods(threads), ...turnMethods(threads), ...lookUpMethods(threads) }, io);
  const strayReply = (id: unknown) =>
    peer.notify('warning', {
      threadId: null,
      message: `the reply to request ${JSON.stringify(id)} changed nothing: nobody waits for it (any more)`,
    });
  try {
    const stopped = io.stop ? [once(io.stop, 'abort')] : [];
    await Promise.race([peer.serve(io.input, { request, strayReply }), ...stopped]);
  } finally {
    await threads.close();
  }
}

function afterHandshake(methods: Methods, io: AppServerIo): (method: string, params: Params) => Promise<unknown> {
  let initialized = false;
  return async (name, params) => {
    if (name === 'initialize') {
      if (initialized) throw new RpcFailure(INVALID_REQUEST, 'Already initialized');
      initialized = true;
      return aboutUs(io);
    }
    if (!initialized) throw new RpcFailure(INVALID_REQUEST, 'Not initialized');
    const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
    if (!method) throw new RpcFailure(METHOD_NOT_FOUND, `method not found: ${name}`);
    return await method(params).catch(asFailure);
  };
}

/** What a person or client can put right is an invalid request; only the unexpected is an internal error. */
function asFailure(error: unknown): never {
  if (!(error instanceof TurnwrightError) || error.code === 'TW_INTERNAL') throw error;
  throw new RpcFailure(INVALID_REQUEST, error.message, error.code === 'TW_USAGE' ? undefined : { reason: error.code });
}

function aboutUs({ home }: AppServerIo): unknown {
  return {
    userAgent: `turnwright/${VERSION} (${os.type()} ${os.release()}; ${os.arch()})`,
    codexHome: home,
    platformFamily: process.platform === 'win32' ? 'windows' : 'unix',
    platformOs: process.platform,
  };
}

/**
 * One POST with a streamed answer, on node:http(s): keep-alive, silent retries before the answer begins, an idle limit,
 * abort that destroys the socket. `fetch` would cost several times the CPU, gives up after 300 s, and sees no proxies.
 */
import http from 'node:http';
import https from 'node:https';
import type { Clock } from '../lib/index.js';
import type { ModelFailure } from '../protocol/index.js';
import { ChunkReader } from './chunk-reader.js';
import { connectionFailure, httpFailure, idleFailure, type ProviderFacts } from './failure.js';
import { type Env, proxyFor, proxyHeaders, TunnelAgent } from './proxy.js';
import { backoffMs, MAX_SERVER_DELAY_MS } from './retry.js';
import { WarmHttpAgent, WarmHttpsAgent } from './warm-agent.js';

export interface HttpPost {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** For sentences only. */
  readonly model: string;
}

export interface HttpOptions {
  readonly provider: ProviderFacts;
  /** Silent retries for HTTP 5xx and transport errors before the answer. */
  readonly requestMaxRetries: number;
  /** Longest silence, before the answer and inside it. */
  readonly idleTimeoutMs: number;
  readonly env: Env;
  readonly clock: Clock;
  readonly random: () => number;
}

export type HttpResult =
  | { readonly ok: true; readonly reader: ChunkReader }
  | { readonly ok: false; readonly error: ModelFailure };

export interface HttpClient {
  /** Resolves with the open answer of a 2xx, or with the failure. Rejects only with `signal.reason`. */
  post(request: HttpPost, signal: AbortSignal): Promise<HttpResult>;
  /** Opens a connection for the next request, if it goes there directly. Failures show when the request comes. */
  warm(url: URL): void;
}

const MAX_ERROR_BODY_CHARS = 64 * 1024;

/** Transport failures of one attempt. */
class AttemptFailed extends Error {
  readonly failure: ModelFailure;
  /** The connection had served before and was closed while idle: the server never saw this request. */
  readonly stale: boolean;
  constructor(failure: ModelFailure, stale: boolean) {
    super(failure.message);
    this.failure = failure;
    this.stale = stale;
  }
}

export function createHttpClient(options: HttpOptions): HttpClient {
  const connections = createConnections(options.env);
  return {
    warm: (url) => connections.warm(url),
    async post(request, signal) {
      for (let retries = 0, staleRetries = 0; ; ) {
        const result = await attempt(request, options, connections, signal);
        if (result.ok) return result;
        if (result.stale && staleRetries++ === 0) continue;
        if (!result.retryable || retries >= options.requestMaxRetries) return { ok: false, error: result.error };
        retries++;
        const asked = result.error.retryAfterMs ?? 0;
        if (asked > MAX_SERVER_DELAY_MS) return { ok: false, error: result.error };
        await options.clock.sleep(asked || backoffMs(retries, options.random()), signal);
      }
    },
  };
}

type Attempt =
  | { ok: true; reader: ChunkReader }
  | { ok: false; error: ModelFailure; retryable: boolean; stale: boolean };

async function attempt(
  request: HttpPost,
  options: HttpOptions,
  connections: Connections,
  signal: AbortSignal,
): Promise<Attempt> {
  let reader: ChunkReader;
  let answer: http.IncomingMessage;
  try {
    answer = await send(request, options, connections, signal);
    reader = new ChunkReader(answer, { idleTimeoutMs: options.idleTimeoutMs, provider: options.provider }, signal);
  } catch (error) {
    if (error instanceof AttemptFailed) {
      return { ok: false, error: error.failure, retryable: error.failure.kind === 'connection', stale: error.stale };
    }
    throw error;
  }
  const status = answer.statusCode ?? 0;
  if (status >= 200 && status < 300) return { ok: true, reader };
  const error = httpFailure(
    options.provider,
    request.model,
    {
      status,
      retryAfter: answer.headers['retry-after'],
      retryAfterMs: first(answer.headers['retry-after-ms']),
      body: await readErrorBody(reader),
    },
    options.clock.nowMs(),
  );
  return { ok: false, error, retryable: error.kind === 'serverError', stale: false };
}

async function readErrorBody(reader: ChunkReader): Promise<string> {
  let body = '';
  while (body.length < MAX_ERROR_BODY_CHARS) {
    const chunk = await reader.read();
    if (chunk.kind !== 'text') break;
    body += chunk.text;
  }
  reader.release();
  return body;
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** Sends the request and resolves with the head of the answer. */
function send(
  post: HttpPost,
  options: HttpOptions,
  connections: Connections,
  signal: AbortSignal,
): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const request = connections.request(post);
    const timer = setTimeout(() => {
      settle(() => reject(new AttemptFailed(idleFailure(options.provider, options.idleTimeoutMs), false)));
      request.destroy();
    }, options.idleTimeoutMs);
    const abort = () => {
      settle(() => reject(signal.reason));
      request.destroy();
    };
    const settle = (how: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      how();
    };
    signal.addEventListener('abort', abort, { once: true });
    request.on('response', (answer) => settle(() => resolve(answer)));
    // Stays attached after the answer began: a late socket error must not be unhandled. The reader reports it.
    request.on('error', (error) => {
      const { code } = error as NodeJS.ErrnoException;
      const stale = connections.mayBeStale(request) && (code === 'ECONNRESET' || code === 'EPIPE');
      settle(() => reject(new AttemptFailed(connectionFailure(options.provider, error), stale)));
    });
    request.end(post.body);
  });
}

interface Connections {
  request(post: HttpPost): http.ClientRequest;
  warm(url: URL): void;
  /** The request went out on a connection that had been open before; the server may have closed it meanwhile. */
  mayBeStale(request: http.ClientRequest): boolean;
}

/** Chooses agent and form per URL. Agents are shared by all requests of one client and keep connections open. */
function createConnections(env: Env): Connections {
  const plain = new WarmHttpAgent({ keepAlive: true });
  const secure = new WarmHttpsAgent({ keepAlive: true });
  const tunnels = new Map<string, TunnelAgent>();
  return {
    request(post) {
      const { url } = post;
      const headers = { ...post.headers, 'content-length': String(post.body.length) };
      const proxy = proxyFor(url, env);
      if (url.protocol === 'https:') {
        return https.request(url, { method: 'POST', headers, agent: proxy ? tunnel(tunnels, proxy) : secure });
      }
      return proxy
        ? http.request({ ...viaProxy(proxy, url, headers), agent: plain })
        : http.request(url, { method: 'POST', headers, agent: plain });
    },
    warm(url) {
      if (proxyFor(url, env)) return;
      const isSecure = url.protocol === 'https:';
      (isSecure ? secure : plain).warm(url.hostname, Number(url.port) || (isSecure ? 443 : 80));
    },
    mayBeStale: (request) =>
      request.reusedSocket || plain.spare.cameFromHere(request.socket) || secure.spare.cameFromHere(request.socket),
  };
}

/** Plain http through a proxy: the whole URL in the request line. */
function viaProxy(proxy: URL, url: URL, headers: Record<string, string>): http.RequestOptions {
  return {
    host: proxy.hostname,
    port: proxy.port || '80',
    method: 'POST',
    path: url.href,
    headers: { ...headers, host: url.host, ...proxyHeaders(proxy) },
  };
}

function tunnel(tunnels: Map<string, TunnelAgent>, proxy: URL): TunnelAgent {
  const known = tunnels.get(proxy.href);
  if (known) return known;
  const made = new TunnelAgent(proxy, { keepAlive: true });
  tunnels.set(proxy.href, made);
  return made;
}

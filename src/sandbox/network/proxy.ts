/** The proxy's port: HTTP (absolute form), CONNECT and SOCKS5, told apart by the first byte. */
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Attempt, Dialled, NetworkCommand, NetworkGate } from './gate.js';
import { parseAuthority } from './host.js';
import { joinStreams } from './join-streams.js';
import { serveSocks } from './socks.js';

export interface ProxyOptions {
  readonly gate: NetworkGate;
  /** Only GET, HEAD and OPTIONS over plain HTTP. */
  readonly limited: boolean;
  /** The command these proxy credentials were given to. */
  readonly identify: (user: string, password: string) => NetworkCommand | undefined;
}

/** Serves one connection; give it each socket that is accepted. */
export function createProxy(options: ProxyOptions): { serve(socket: Socket): void; close(): void } {
  const sockets = new Set<Socket>();
  const http = createHttpProxy(options);
  return {
    serve(socket) {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      socket.on('error', () => socket.destroy());
      socket.once('data', (first: Buffer) => {
        socket.pause();
        socket.unshift(first);
        if (first[0] === SOCKS5) serveSocks(socket, options);
        else {
          http.emit('connection', socket);
          // The server takes over a flowing socket; this one was paused to look at its first byte.
          process.nextTick(() => socket.resume());
        }
      });
    },
    close() {
      for (const socket of sockets) socket.destroy();
      http.close();
    },
  };
}

const SOCKS5 = 0x05;
const LIMITED_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Headers that speak about one connection, not about the request. */
const HOP_HEADERS = new Set(['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'host']);

function createHttpProxy(options: ProxyOptions): Server {
  const server = createServer({ requireHostHeader: false }, (incoming, response) => {
    forward(options, incoming, response).catch(() => response.destroy());
  });
  server.on('connect', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    tunnel(options, incoming, socket, head).catch(() => socket.destroy());
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  return server;
}

async function tunnel(options: ProxyOptions, incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
  socket.on('error', () => socket.destroy());
  const target = parseAuthority(incoming.url ?? '') ?? { host: incoming.url ?? '', port: 0 };
  const attempt: Attempt = { protocol: 'connect', ...target, command: commandOf(options, incoming) };
  const dialled = options.limited ? options.gate.refuseMethod(attempt) : await options.gate.dial(attempt);
  if (!dialled.ok) {
    socket.end(`HTTP/1.1 ${statusOf(dialled)}\r\nx-proxy-error: ${dialled.reason}\r\n` + body(dialled.text));
    return;
  }
  socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
  if (head.length > 0) dialled.socket.write(head);
  joinStreams(socket, dialled.socket);
}

async function forward(options: ProxyOptions, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = absoluteUrl(incoming.url);
  const target = url ?? { host: incoming.url ?? '', port: 0, path: '/' };
  const attempt: Attempt = {
    protocol: 'http',
    host: target.host,
    port: target.port,
    command: commandOf(options, incoming),
  };
  const methodRefused = options.limited && !LIMITED_METHODS.has(incoming.method ?? '');
  const dialled = methodRefused ? options.gate.refuseMethod(attempt) : await options.gate.dial(attempt);
  if (!dialled.ok) {
    response.writeHead(dialled.reason === 'unreachable' ? 502 : 403, {
      'x-proxy-error': dialled.reason,
      'content-type': 'text/plain',
      connection: 'close',
    });
    response.end(`${dialled.text}\n`);
    return;
  }
  const { socket, host } = dialled;
  const outgoing = request({
    createConnection: () => socket,
    method: incoming.method,
    path: target.path,
    headers: { ...endToEnd(incoming.rawHeaders), host: hostHeader(host, target.port), connection: 'close' },
  });
  outgoing.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, { ...endToEnd(answer.rawHeaders), connection: 'close' });
    answer.pipe(response);
    answer.on('error', () => response.destroy());
  });
  outgoing.on('error', () => response.destroy());
  response.on('close', () => outgoing.destroy());
  incoming.pipe(outgoing);
}

/** The request's own target decides; the `Host` header is rewritten from it. */
function absoluteUrl(written: string | undefined): { host: string; port: number; path: string } | undefined {
  const match = /^http:\/\/([^/?#]+)([/?][^#]*)?$/i.exec(written ?? '');
  if (match === null) return undefined;
  const authority = /:\d+$/.test(match[1]!) ? match[1]! : `${match[1]}:80`;
  const target = parseAuthority(authority);
  const path = match[2] ?? '/';
  return target === undefined ? undefined : { ...target, path: path.startsWith('/') ? path : `/${path}` };
}

function hostHeader(host: string, port: number): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === 80 ? name : `${name}:${port}`;
}

function endToEnd(rawHeaders: readonly string[]): Record<string, string[]> {
  const kept: Record<string, string[]> = {};
  const named = new Set<string>();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    if (rawHeaders[index]!.toLowerCase() !== 'connection') continue;
    for (const name of rawHeaders[index + 1]!.split(',')) named.add(name.trim().toLowerCase());
  }
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase();
    if (HOP_HEADERS.has(name) || named.has(name) || name.startsWith('proxy-')) continue;
    (kept[name] ??= []).push(rawHeaders[index + 1]!);
  }
  return kept;
}

function commandOf(options: ProxyOptions, incoming: IncomingMessage): NetworkCommand | undefined {
  const basic = /^Basic\s+(\S+)$/i.exec(incoming.headers['proxy-authorization'] ?? '')?.[1];
  if (basic === undefined) return undefined;
  const [user = '', password = ''] = Buffer.from(basic, 'base64').toString('latin1').split(':');
  return options.identify(user, password);
}

function statusOf(dialled: Extract<Dialled, { ok: false }>): string {
  return dialled.reason === 'unreachable' ? '502 Bad Gateway' : '403 Forbidden';
}

function body(text: string): string {
  return `content-type: text/plain\r\ncontent-length: ${Buffer.byteLength(text) + 1}\r\nconnection: close\r\n\r\n${text}\n`;
}

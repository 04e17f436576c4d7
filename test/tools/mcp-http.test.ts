/** MCP over HTTP, against a real server on a local port. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { fromJsonSchema, McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { deferred } from '../../src/lib/index.js';
import { mcpHarness, toolText } from './mcp-harness.js';

const TOKEN = 'hunter2';

interface HttpServer extends AsyncDisposable {
  readonly url: string;
  /** Headers of every request so far. */
  readonly seen: readonly IncomingMessage['headers'][];
  /** Forgets all sessions, as a restart would. */
  restart(): Promise<void>;
  /** Resolves when a call of `hang` has been cancelled. */
  readonly cancelled: Promise<void>;
}

async function startServer(): Promise<HttpServer> {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const seen: IncomingMessage['headers'][] = [];
  const cancelled = deferred<void>();
  const http = createServer((request, answer) => {
    seen.push(request.headers);
    if (request.headers.authorization === `Bearer ${TOKEN}`) void serve(request, answer, sessions, cancelled.resolve);
    else answer.writeHead(401).end();
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo; // listens on a port
  const forget = async () => {
    const old = [...sessions.values()];
    sessions.clear();
    await Promise.all(old.map((transport) => transport.close()));
  };
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    seen,
    cancelled: cancelled.promise,
    restart: forget,
    async [Symbol.asyncDispose]() {
      await forget();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

type Sessions = Map<string, WebStandardStreamableHTTPServerTransport>;

async function serve(request: IncomingMessage, answer: ServerResponse, sessions: Sessions, onCancel: () => void) {
  const body = request.method === 'POST' ? await text(request) : undefined;
  const id = request.headers['mcp-session-id'] as string | undefined; // a header sent once
  const transport = id === undefined ? await openSession(sessions, onCancel) : sessions.get(id);
  if (!transport) return answer.writeHead(404).end();
  const init = { method: request.method ?? 'GET', headers: request.headers as Record<string, string> };
  const response = await transport.handleRequest(
    new Request(`http://${request.headers.host}/mcp`, body === undefined ? init : { ...init, body }),
  );
  answer.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body) Readable.fromWeb(response.body as never).pipe(answer);
  else answer.end();
}

async function openSession(sessions: Sessions, onCancel: () => void) {
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  const server = new McpServer({ name: 'http', version: '1' });
  const input = fromJsonSchema<{ text?: string }>({ type: 'object', properties: { text: { type: 'string' } } });
  server.registerTool('echo', { inputSchema: input }, async (args) => ({
    content: [{ type: 'text', text: `echo ${args.text}` }],
  }));
  server.registerTool('hang', {}, (context) => {
    context.mcpReq.signal.addEventListener('abort', onCancel);
    return new Promise(() => {});
  });
  await server.connect(transport);
  return transport;
}

async function text(request: IncomingMessage): Promise<string> {
  let all = '';
  for await (const chunk of request.setEncoding('utf8')) all += chunk;
  return all;
}

const withToken = (server: HttpServer, more: object = {}) => ({
  web: { url: server.url, bearer_token_env_var: 'WEB_TOKEN', ...more },
});
const env = { WEB_TOKEN: TOKEN, TEAM: 'blue' };

test('a call goes over HTTP with the token and the configured headers', async () => {
  await using server = await startServer();
  const headers = { http_headers: { 'X-Fixed': 'f' }, env_http_headers: { 'X-Team': 'TEAM', 'X-None': 'UNSET' } };
  await using h = mcpHarness(withToken(server, headers), { env });
  expect(toolText(await h.run('mcp__web__echo', { text: 'hi' }))).toBe('echo hi');
  for (const seen of server.seen) {
    expect(seen).toMatchObject({ authorization: `Bearer ${TOKEN}`, 'x-fixed': 'f', 'x-team': 'blue' });
    expect(seen).not.toHaveProperty('x-none');
  }
});

test.each([
  ['wrong', { WEB_TOKEN: 'wrong' }, 'it refuses the credentials (HTTP 401)'],
  ['missing', {}, 'the environment variable WEB_TOKEN, which bearer_token_env_var names, is not set'],
])('a %s token is a warning that says so and does not show it', async (_what, variables, message) => {
  await using server = await startServer();
  await using h = mcpHarness(withToken(server), { env: variables });
  expect(await h.mcp.tools()).toEqual([]);
  expect(h.mcp.warnings()).toEqual([expect.stringContaining(message)]);
  expect(h.mcp.warnings().join()).not.toContain('wrong');
});

test('an address where nobody listens is a warning with the cause', async () => {
  const server = await startServer();
  await server[Symbol.asyncDispose]();
  await using h = mcpHarness(withToken(server), { env });
  await h.mcp.tools();
  expect(h.mcp.warnings()).toEqual([expect.stringContaining('ECONNREFUSED')]);
});

test('a server that was restarted has forgotten us: one call fails, the next opens a new session', async () => {
  await using server = await startServer();
  await using h = mcpHarness(withToken(server), { env });
  expect((await h.run('mcp__web__echo', { text: '1' })).kind).toBe('ok');
  await server.restart();
  expect((await h.run('mcp__web__echo', { text: '2' })).kind).toBe('failed');
  expect(toolText(await h.run('mcp__web__echo', { text: '3' }))).toBe('echo 3');
});

test('a slow call is given up and cancelled there', async () => {
  await using server = await startServer();
  await using h = mcpHarness(withToken(server, { tool_timeout_sec: 0.5 }), { env });
  expect(await h.run('mcp__web__hang')).toMatchObject({ kind: 'failed', timedOut: true });
  await server.cancelled;
});

/** A real HTTP server that plays a model script over the Responses and the Chat Completions wire, for tests and demos. */
import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { systemClock } from '../lib/index.js';
import { Gates } from './gates.js';
import { arrayOf, type Json, objectOf, parseObject } from './json.js';
import { type Script, type ScriptEvent, type ScriptStep, wordOf } from './script.js';
import { ChatScript } from './script-chat.js';
import { announcedSession, type ScriptAction, scriptActions, withSession } from './script-events.js';
import { stepOf } from './scripted-provider.js';

export interface RecordedRequest {
  /** From 1. */
  readonly n: number;
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  /** Parsed; `{unparsed}` when it was not JSON. */
  readonly body: Json;
  readonly text: string;
  /** Tells connections apart. */
  readonly clientPort: number;
  /** The connection ended before the answer did. */
  readonly cut: boolean;
}

export interface ScriptServer extends AsyncDisposable {
  /** For `base_url`: `http://127.0.0.1:PORT/v1`. */
  readonly url: string;
  readonly port: number;
  readonly requests: readonly RecordedRequest[];
  gate(name: string): { open(): void };
  /** Resolves once `n` requests have arrived. */
  waitForRequest(n: number): Promise<RecordedRequest>;
  /** Resolves once the client has dropped request `n`. */
  waitForCut(n: number): Promise<void>;
  /** Connections accepted so far. */
  readonly connections: number;
  waitForConnection(n: number): Promise<void>;
  /** Closes every open connection, as a restarted server would. */
  dropConnections(): void;
  close(): Promise<void>;
}

type Request = { -readonly [K in keyof RecordedRequest]: RecordedRequest[K] };

/** Listens on loopback. `port` 0 or absent: any free port. */
export async function serveScript(script: Script, options: { port?: number } = {}): Promise<ScriptServer> {
  const gates = new Gates();
  const requests: Request[] = [];
  const sockets = new Set<Socket>();
  const stop = new AbortController();
  const waiters = new Set<() => void>();
  const changed = () => {
    for (const check of waiters) check();
  };
  const server = http.createServer((request, response) => {
    const answered = answer(request, response, { script, gates, requests, changed, signal: stop.signal });
    answered.catch(() => response.destroy()); // the client or the server went away
  });
  let connections = 0;
  server.on('connection', (socket) => {
    connections++;
    changed();
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const until = (isTrue: () => boolean) =>
    new Promise<void>((resolve) => {
      const check = () => {
        if (!isTrue()) return;
        waiters.delete(check);
        resolve();
      };
      waiters.add(check);
      check();
    });
  const close = async () => {
    stop.abort();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    url: `http://127.0.0.1:${port}/v1`,
    port,
    requests,
    gate: (name) => gates.gate(name),
    waitForRequest: async (n) => {
      await until(() => requests.length >= n);
      return requests[n - 1]!;
    },
    get connections() {
      return connections;
    },
    waitForConnection: (n) => until(() => connections >= n),
    dropConnections() {
      for (const socket of sockets) socket.destroy();
    },
    waitForCut: (n) => until(() => requests[n - 1]?.cut === true),
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface Stage {
  readonly script: Script;
  readonly gates: Gates;
  readonly requests: Request[];
  readonly changed: () => void;
  readonly signal: AbortSignal;
}

async function answer(request: http.IncomingMessage, response: http.ServerResponse, stage: Stage): Promise<void> {
  if (request.method === 'GET')
    return sendJson(response, 200, { object: 'list', data: [{ id: 'scripted' }], models: [] });
  let text = '';
  request.setEncoding('utf8');
  for await (const chunk of request) text += chunk;
  const n = stage.requests.length;
  const body = parseObject(text) ?? { unparsed: text };
  const record: Request = {
    n: n + 1,
    path: request.url ?? '',
    headers: request.headers,
    body,
    text,
    clientPort: request.socket.remotePort ?? 0,
    cut: false,
  };
  stage.requests.push(record);
  response.on('close', () => {
    record.cut = !response.writableFinished;
    stage.changed();
  });
  stage.changed();
  const step = stepOf(stage.script, n);
  const objection = step ? unmet(step, body) : 'script exhausted';
  if (!step || objection !== undefined) {
    return sendJson(response, 400, { error: { message: objection, type: 'invalid_request_error' } });
  }
  if (step.gate !== undefined) await stage.gates.wait(step.gate);
  if (step.status !== undefined && step.status !== 200) return sendError(response, step.status, step);
  await stream(response, step, record, stage);
}

async function stream(response: http.ServerResponse, step: ScriptStep, request: Request, stage: Stage): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...step.headers });
  const n = request.n - 1;
  const chat = request.path.includes('/chat/completions') ? new ChatScript(n) : undefined;
  if (!chat) send(response, { type: 'response.created', response: { id: `resp_${n}` } });
  const session = announcedSession(outputTexts(request.body));
  for (const [index, scripted] of (step.events ?? []).entries()) {
    const event = withSession(scripted, session);
    if (chat && isSent(event)) {
      for (const payload of chat.payloads(event)) response.write(`data: ${payload}\n\n`);
      continue;
    }
    for (const action of scriptActions(event, n, index)) {
      if (response.destroyed || (await perform(action, response, stage)) === 'stop') return;
    }
  }
  response.end();
}

/** The event is something the model says, not something the connection does. */
function isSent(event: ScriptEvent): boolean {
  return !['gate', 'wait_ms', 'drop', 'eof', 'hold'].includes(wordOf(event));
}

async function perform(action: ScriptAction, response: http.ServerResponse, stage: Stage): Promise<'go' | 'stop'> {
  switch (action.do) {
    case 'send':
      send(response, action.event);
      return 'go';
    case 'gate':
      await stage.gates.wait(action.name);
      return 'go';
    case 'wait':
      await systemClock.sleep(action.ms, stage.signal);
      return 'go';
    case 'drop':
      // What was sent must arrive first.
      await new Promise((resolve) => response.write(': cut\n\n', resolve));
      response.destroy();
      return 'stop';
    case 'eof':
      response.end();
      return 'stop';
    case 'hold':
      return 'stop';
  }
}

function send(response: http.ServerResponse, event: Json): void {
  response.write(`event: ${event['type']}\ndata: ${JSON.stringify(event)}\n\n`);
}

function sendError(response: http.ServerResponse, status: number, step: ScriptStep): void {
  response.writeHead(status, { 'content-type': 'application/json', ...step.headers });
  response.end(typeof step.body === 'string' ? step.body : JSON.stringify(step.body ?? {}));
}

function sendJson(response: http.ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** Why the request is not what the step expects. */
function unmet(step: ScriptStep, body: Json): string | undefined {
  if (step.expect === undefined) return undefined;
  const last = messages(body).findLast((item) => isOutput(item) || item['role'] === 'user');
  const text = JSON.stringify(last?.['output'] ?? last?.['content'] ?? '');
  if (text.includes(JSON.stringify(step.expect).slice(1, -1))) return undefined;
  return `expected the last output or message to contain ${JSON.stringify(step.expect)}; it was ${text.slice(0, 300)}`;
}

function* outputTexts(body: Json): Iterable<string> {
  for (const item of messages(body)) {
    const output = item['output'] ?? item['content'] ?? '';
    if (isOutput(item)) yield typeof output === 'string' ? output : JSON.stringify(output);
  }
}

function messages(body: Json): Json[] {
  return arrayOf(body['input'] ?? body['messages']).map(objectOf);
}

function isOutput(item: Json): boolean {
  return item['role'] === 'tool' || String(item['type']).endsWith('_output');
}

/** A client of its own for the built app-server: JSON lines over a real child process. Every message it gets is held against the protocol's schema. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createPlace, type Place, PROGRAM } from './exec-support.js';
import { type Schema, violations } from './json-schema.js';

const SCHEMA = JSON.parse(
  readFileSync(path.resolve(import.meta.dirname, '../conformance/app-server-schema/schema.json'), 'utf8'),
) as Schema;

/** What this server says beyond the protocol. */
const OWN_NOTIFICATIONS = ['item/discarded'];

const RESULTS: Readonly<Record<string, string>> = {
  initialize: 'InitializeResponse',
  'thread/start': 'v2/ThreadStartResponse',
  'thread/resume': 'v2/ThreadResumeResponse',
  'thread/list': 'v2/ThreadListResponse',
  'thread/loaded/list': 'v2/ThreadLoadedListResponse',
  'thread/read': 'v2/ThreadReadResponse',
  'thread/name/set': 'v2/ThreadSetNameResponse',
  'thread/unsubscribe': 'v2/ThreadUnsubscribeResponse',
  'turn/start': 'v2/TurnStartResponse',
  'turn/steer': 'v2/TurnSteerResponse',
  'turn/interrupt': 'v2/TurnInterruptResponse',
  'model/list': 'v2/ModelListResponse',
  'config/read': 'v2/ConfigReadResponse',
  'hooks/list': 'v2/HooksListResponse',
  'command/exec': 'v2/CommandExecResponse',
  'mcpServerStatus/list': 'v2/ListMcpServerStatusResponse',
};

export type Json = Readonly<Record<string, unknown>>;
export interface Message {
  readonly id?: number;
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into messages whose shape the schema has checked
  readonly params?: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly result?: any;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface Client extends AsyncDisposable {
  readonly place: Place;
  readonly child: ChildProcess;
  /** All that came, in order. */
  readonly messages: readonly Message[];
  /** What did not fit the schema. */
  readonly complaints: readonly string[];
  request(method: string, params?: Json): Promise<Message>;
  /** The result; throws when the answer is an error. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  call(method: string, params?: Json): Promise<any>;
  send(message: Json): void;
  /** The first message from number `from` on that fits. */
  message(fits: (message: Message) => boolean, from?: number): Promise<Message>;
  notification(method: string, from?: number): Promise<Message>;
  /** Exit status or signal. */
  readonly ended: Promise<number | string | null>;
}

export interface ClientOptions {
  /** Top-level lines of `config.toml`. */
  readonly config?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly place?: Place;
}

/** Starts the server in a folder of its own, with the scripted model as its provider, and shakes hands. */
export async function startClient(model: { readonly url: string }, options: ClientOptions = {}): Promise<Client> {
  const place = options.place ?? (await createPlace());
  await mkdir(place.home, { recursive: true });
  await writeFile(path.join(place.home, 'config.toml'), configOf(model, options.config ?? ''));
  for (const [name, text] of Object.entries(options.files ?? {})) await writeFile(path.join(place.cwd, name), text);
  const child = spawn(process.execPath, [PROGRAM, 'app-server'], { cwd: place.cwd, env: place.env, stdio: 'pipe' });
  child.stderr.resume();
  child.stdin.on('error', () => {}); // it may have ended
  const ended = once(child, 'close').then(([code, signal]) => code ?? signal);
  const client = talk(child, place, ended);
  await client.call('initialize', { clientInfo: { name: 'test', version: '1' } });
  client.send({ method: 'initialized' });
  return client;
}

function configOf(model: { readonly url: string }, more: string): string {
  return `model = "gpt-5.5"
model_provider = "mock"
${more}
[model_providers.mock]
name = "mock"
base_url = "${model.url}"
wire_api = "responses"
env_key = "MOCK_KEY"
request_max_retries = 0
stream_max_retries = 0
`;
}

function talk(child: ReturnType<typeof spawn>, place: Place, ended: Client['ended']): Client {
  const messages: Message[] = [];
  const complaints: string[] = [];
  const asked = new Map<number, string>();
  const watchers = new Set<() => void>();
  let nextId = 1;
  let rest = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const message = JSON.parse(line) as Message;
      messages.push(message);
      complaints.push(...judge(message, asked));
    }
    for (const check of [...watchers]) check();
  });
  const send = (message: Json) => void child.stdin?.write(`${JSON.stringify(message)}\n`);
  const message: Client['message'] = (fits, from = 0) =>
    new Promise((resolve, reject) => {
      const check = () => {
        const found = messages.slice(from).find(fits);
        if (!found) return;
        watchers.delete(check);
        resolve(found);
      };
      watchers.add(check);
      void ended.then((status) => reject(new Error(`the server ended (${status}) before the message came`)));
      check();
    });
  const request: Client['request'] = (method, params = {}) => {
    const id = nextId++;
    asked.set(id, method);
    send({ id, method, params });
    return message((one) => one.id === id && one.method === undefined);
  };
  return {
    place,
    child,
    messages,
    complaints,
    ended,
    send,
    message,
    request,
    async call(method, params) {
      const reply = await request(method, params);
      if (reply.error) throw new Error(`${method}: ${reply.error.message}`);
      return reply.result;
    },
    notification: (method, from) => message((one) => one.method === method, from),
    async [Symbol.asyncDispose]() {
      child.stdin?.end();
      await ended;
      await place[Symbol.asyncDispose]();
    },
  };
}

function judge(message: Message, asked: ReadonlyMap<number, string>): readonly string[] {
  if (message.error) return Number.isInteger(message.error.code) ? [] : ['an error without a code'];
  if (message.method === undefined) {
    const method = asked.get(message.id ?? -1) ?? '';
    const name = RESULTS[method];
    if (name === undefined) return [`${method}: the test does not know the shape of its result`];
    return violations(message.result, { $ref: `#/definitions/${name}` }, SCHEMA, `${method} result`);
  }
  if (OWN_NOTIFICATIONS.includes(message.method)) return [];
  const name = message.id === undefined ? 'ServerNotification' : 'ServerRequest';
  return violations(message, { $ref: `#/definitions/${name}` }, SCHEMA, message.method);
}

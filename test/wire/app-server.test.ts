/** The app-server as a client meets it, over a real child process; every message is held against the schema. */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Client, type Json, type Message, startClient } from './app-server-support.js';
import { requireBuild, serve } from './exec-support.js';

beforeAll(requireBuild);

const say = (text: string) => ({ events: [{ text }, { done: true }] });
const run = (cmd: string, id = 'c1') => ({ events: [{ call: 'exec_command', args: { cmd }, id }, { done: true }] });
const input = (text: string) => [{ type: 'text', text }];
const UNCONFINED = { sandbox: 'danger-full-access' } as const;

async function startThread(client: Client, params: Json = {}): Promise<string> {
  const { thread } = await client.call('thread/start', { ...UNCONFINED, ...params });
  return thread.id;
}

async function runTurn(client: Client, threadId: string, text = 'go'): Promise<Message> {
  const from = client.messages.length;
  await client.call('turn/start', { threadId, input: input(text) });
  return client.notification('turn/completed', from);
}

const isRequest = (message: Message) => message.id !== undefined && message.method !== undefined;

describe('requests that cannot be understood', () => {
  test.each<[string, string, Json, number, RegExp]>([
    ['an unknown method', 'thread/frobnicate', {}, -32601, /thread\/frobnicate/],
    ['an inherited name is no method', 'constructor', {}, -32601, /constructor/],
    ['a missing id', 'thread/read', {}, -32600, /`threadId`/],
    ['an id of the wrong type', 'turn/start', { threadId: 7, input: [] }, -32600, /`threadId`/],
    ['a sandbox that does not exist', 'thread/start', { sandbox: 'open' }, -32600, /`sandbox`.*workspace-write/],
    ['a relative folder', 'thread/start', { cwd: 'here' }, -32600, /`cwd`.*absolute/],
    ['a policy that does not exist', 'thread/start', { approvalPolicy: 'maybe' }, -32600, /`approvalPolicy`/],
    [
      'half a granular policy',
      'thread/start',
      { approvalPolicy: { granular: { rules: true } } },
      -32600,
      /sandbox_approval/,
    ],
    ['a flag that is none', 'thread/start', { ephemeral: 'yes' }, -32600, /`ephemeral`/],
    [
      'a tool without a schema',
      'thread/start',
      { dynamicTools: [{ type: 'function', name: 'x' }] },
      -32600,
      /`dynamicTools\[0\]`/,
    ],
    [
      'a tool that would stand in for the shell',
      'thread/start',
      { dynamicTools: [{ type: 'function', name: 'exec_command', description: '', inputSchema: {} }] },
      -32600,
      /exec_command is a tool of the engine/,
    ],
    ['a thread that does not exist', 'thread/resume', { threadId: 'nobody' }, -32600, /nobody/],
    ['a page of nothing', 'thread/list', { limit: 0 }, -32600, /`limit`/],
    ['a cursor of another list', 'thread/list', { cursor: 'x' }, -32600, /`cursor`/],
    ['an empty name', 'thread/name/set', { threadId: 'x', name: ' ' }, -32600, /`name`/],
  ])('%s', async (_name, method, params, code, message) => {
    await using model = await serve(say('never'));
    await using client = await startClient(model);
    const { error } = await client.request(method, params);
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  test('what a turn is given is checked before the turn starts', async () => {
    await using model = await serve(say('never'));
    await using client = await startClient(model);
    const threadId = await startThread(client);
    const refuse = async (params: Json) => (await client.request('turn/start', { threadId, ...params })).error?.message;
    expect(await refuse({})).toMatch(/missing field `input`/);
    expect(await refuse({ input: [{ type: 'text' }] })).toMatch(/`input\[0\]`/);
    expect(await refuse({ input: [], summary: 'long' })).toMatch(/`summary`/);
    expect(await refuse({ input: [], sandboxPolicy: { type: 'none' } })).toMatch(/`sandboxPolicy.type`/);
    expect(await refuse({ input: [], sandboxPolicy: { type: 'workspaceWrite', writableRoots: ['x'] } })).toMatch(
      /`sandboxPolicy.writableRoots`/,
    );
    expect(await refuse({ input: [], additionalContext: { editor: { value: 1 } } })).toMatch(
      /additionalContext.editor/,
    );
    expect(client.messages.filter(({ method }) => method === 'turn/started')).toEqual([]);
  });
});

test('threads are listed, read with their turns, named and resumed', async () => {
  await using model = await serve(run('echo one'), say('first'), say('second'), say('third'));
  await using client = await startClient(model);
  const first = await startThread(client);
  await runTurn(client, first, 'the first question');
  const second = await startThread(client);
  await runTurn(client, second, 'the second question');
  await client.call('thread/name/set', { threadId: first, name: 'mine' });
  await client.notification('thread/name/updated');

  const page = await client.call('thread/list', { limit: 1 });
  expect(page.data).toMatchObject([{ id: second, preview: 'the second question', status: { type: 'idle' } }]);
  const rest = await client.call('thread/list', { limit: 1, cursor: page.nextCursor });
  expect(rest).toMatchObject({ data: [{ id: first, name: 'mine', source: 'appServer' }], nextCursor: null });
  expect((await client.call('thread/list', { searchTerm: 'MINE' })).data).toHaveLength(1);
  expect((await client.call('thread/list', { cwd: '/elsewhere' })).data).toEqual([]);
  expect((await client.call('thread/loaded/list')).data).toEqual([first, second]);

  const read = await client.call('thread/read', { threadId: first, includeTurns: true });
  expect(read.thread.turns).toMatchObject([
    {
      status: 'completed',
      itemsView: 'full',
      items: [
        { type: 'userMessage' },
        { type: 'commandExecution', exitCode: 0 },
        { type: 'agentMessage', text: 'first' },
      ],
    },
  ]);
  expect(existsSync(read.thread.path)).toBe(true);

  await client.call('thread/unsubscribe', { threadId: first });
  await client.notification('thread/closed');
  expect((await client.call('thread/read', { threadId: first })).thread.status).toEqual({ type: 'notLoaded' });
  const resumed = await client.call('thread/resume', { threadId: 'mine' });
  expect(resumed.thread).toMatchObject({ id: first, name: 'mine', preview: 'the first question' });
  expect(resumed.thread.turns).toEqual(read.thread.turns);
  expect((await runTurn(client, first)).params.turn.items).toMatchObject([{ text: 'third' }]);
  expect(client.complaints).toEqual([]);
});

test('an ephemeral thread leaves nothing and has no turns to read', async () => {
  await using model = await serve(say('hi'));
  await using client = await startClient(model);
  const threadId = await startThread(client, { ephemeral: true });
  await runTurn(client, threadId);
  expect((await client.call('thread/list')).data).toEqual([]);
  expect((await client.call('thread/read', { threadId })).thread).toMatchObject({ ephemeral: true, path: null });
  expect((await client.request('thread/read', { threadId, includeTurns: true })).error).toMatchObject({ code: -32600 });
  expect(client.complaints).toEqual([]);
});

test('models, configuration and hooks can be looked up', async () => {
  const hook = '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "true"\ntimeout = 7\n';
  await using model = await serve(say('never'));
  await using client = await startClient(model, { config: `approval_policy = "untrusted"\n${hook}` });
  const { data: models } = await client.call('model/list');
  expect(models).toMatchObject([{ id: 'gpt-5.5', isDefault: true, defaultReasoningEffort: 'medium' }]);
  const read = await client.call('config/read', { includeLayers: true });
  const file = path.join(client.place.home, 'config.toml');
  expect(read.config).toMatchObject({ approval_policy: 'untrusted' });
  expect(read.origins['approval_policy'].name).toEqual({ type: 'user', file, profile: null });
  expect(read.layers.at(-1)).toMatchObject({ name: { type: 'user', file }, disabledReason: null });
  const { data: hooks } = await client.call('hooks/list');
  expect(hooks).toMatchObject([
    { cwd: client.place.cwd, hooks: [{ eventName: 'stop', trustStatus: 'untrusted', source: 'user', timeoutSec: 7 }] },
  ]);
  expect(client.complaints).toEqual([]);
});

test('commands say what they do when that is proven, and are shown whole when it is not', async () => {
  await using model = await serve(run('cat notes.txt'), run('cat notes.txt; touch x', 'c2'), say('ok'));
  await using client = await startClient(model, { files: { 'notes.txt': 'n\n' } });
  await runTurn(client, await startThread(client));
  const started = client.messages.filter(
    ({ method, params }) => method === 'item/started' && params.item.type === 'commandExecution',
  );
  const file = path.join(client.place.cwd, 'notes.txt');
  expect(started.map(({ params }) => params.item.commandActions)).toMatchObject([
    [{ type: 'read', name: 'notes.txt', path: file }],
    [{ type: 'unknown' }],
  ]);
});

test('a command that outlives its call completes when its process ends, under the turn that began it', async () => {
  const long = { cmd: 'until test -e stop; do sleep 0.05; done; exit 3', yield_time_ms: 250 };
  await using model = await serve(
    { events: [{ call: 'exec_command', args: long, id: 'c1' }, { done: true }] },
    say('ok'),
  );
  await using client = await startClient(model);
  const threadId = await startThread(client);
  const { turn } = (await runTurn(client, threadId)).params;
  const from = client.messages.length;
  await writeFile(path.join(client.place.cwd, 'stop'), '');
  expect((await client.notification('item/completed', from)).params).toMatchObject({
    turnId: turn.id,
    item: { id: 'c1', status: 'failed', exitCode: 3 },
  });
  expect(client.complaints).toEqual([]);
});

describe('tools of the client', () => {
  const lookup = { type: 'function', name: 'lookup', description: 'Looks up', inputSchema: { type: 'object' } };
  const calls = (name: string) => ({ events: [{ call: name, args: { q: 'x' }, id: 'c1' }, { done: true }] });

  test.each<[string, Json, Json, RegExp]>([
    [
      'a text reaches the model',
      { result: { contentItems: [{ type: 'inputText', text: 'MARK' }], success: true } },
      { status: 'completed', success: true, contentItems: [{ type: 'inputText', text: 'MARK' }] },
      /MARK/,
    ],
    [
      'an image reaches the model',
      { result: { contentItems: [{ type: 'inputImage', imageUrl: 'data:image/png;base64,AA==' }], success: true } },
      { status: 'completed', contentItems: [{ type: 'inputImage', imageUrl: 'data:image/png;base64,AA==' }] },
      /image_url":"data:image\/png/,
    ],
    [
      'a failure is told as one',
      { result: { contentItems: [{ type: 'inputText', text: 'MARK' }], success: false } },
      { status: 'failed', success: false },
      /MARK/,
    ],
    ['an error is told as a failure', { error: { code: 1, message: 'MARK' } }, { status: 'failed' }, /MARK/],
    ['a reply without sense is told as a failure', { result: {} }, { status: 'failed' }, /no usable result/],
  ])('%s', async (_name, reply, item, told) => {
    await using model = await serve(calls('lookup'), say('ok'));
    await using client = await startClient(model);
    const threadId = await startThread(client, { dynamicTools: [lookup] });
    await client.call('turn/start', { threadId, input: input('go') });
    const { id, params } = await client.message(isRequest);
    expect(params).toMatchObject({ threadId, callId: 'c1', tool: 'lookup', namespace: null, arguments: { q: 'x' } });
    client.send({ id, ...reply });
    await client.notification('turn/completed');
    const ends = client.messages.filter(
      ({ method, params: p }) => method === 'item/completed' && p.item.type === 'dynamicToolCall',
    );
    expect(ends.map(({ params: p }) => p.item)).toMatchObject([item]);
    expect(model.requests[1]!.text).toMatch(told);
    expect(client.complaints).toEqual([]);
  });

  test('a call that waits ends with the turn, and its late reply is told to be late', async () => {
    await using model = await serve(calls('lookup'), say('ok'));
    await using client = await startClient(model);
    const threadId = await startThread(client, { dynamicTools: [lookup] });
    const { turn } = await client.call('turn/start', { threadId, input: input('go') });
    const { id } = await client.message(isRequest);
    await client.call('turn/interrupt', { threadId, turnId: turn.id });
    expect((await client.notification('serverRequest/resolved')).params.requestId).toBe(id);
    client.send({ id, result: { contentItems: [], success: true } });
    expect((await client.notification('warning')).params.message).toMatch(/nobody waits/);
    expect(client.complaints).toEqual([]);
  });

  test('tools of a namespace go by both names', async () => {
    await using model = await serve(calls('crm__lookup'), say('ok'));
    await using client = await startClient(model);
    const space = { type: 'namespace', name: 'crm', description: 'd', tools: [lookup] };
    const threadId = await startThread(client, { dynamicTools: [space] });
    await client.call('turn/start', { threadId, input: input('go') });
    const { id, params } = await client.message(isRequest);
    expect(params).toMatchObject({ tool: 'lookup', namespace: 'crm' });
    client.send({ id, result: { contentItems: [], success: true } });
    await client.notification('turn/completed');
  });
});

test('context of the client stands before the input, and only what it vouches for is an instruction', async () => {
  await using model = await serve(say('ok'), say('ok'));
  await using client = await startClient(model);
  const threadId = await startThread(client);
  const additionalContext = {
    page: { value: 'MARK-PAGE', kind: 'untrusted' },
    editor: { value: 'MARK-EDITOR', kind: 'application' },
  };
  await client.call('turn/start', { threadId, input: input('hi'), additionalContext });
  await client.notification('turn/completed');
  const sent = (model.requests[0]!.body['input'] as Json[]).slice(-3);
  expect(sent).toMatchObject([
    { type: 'function_call_output', output: 'MARK-PAGE' },
    { role: 'developer', content: [{ text: 'MARK-EDITOR' }] },
    { role: 'user', content: [{ text: 'hi' }] },
  ]);
  // It is part of the history: a resume keeps it, and drops nothing.
  await client.call('thread/unsubscribe', { threadId });
  await client.notification('thread/closed');
  await client.call('thread/resume', { threadId });
  await runTurn(client, threadId, 'more');
  const again = model.requests[1]!.body['input'] as Json[];
  expect(again.slice(0, (model.requests[0]!.body['input'] as Json[]).length)).toEqual(model.requests[0]!.body['input']);
});

describe('open questions', () => {
  const asking = { approvalPolicy: 'untrusted' } as const;

  async function waitingThread(client: Client) {
    const threadId = await startThread(client, asking);
    const { turn } = await client.call('turn/start', { threadId, input: input('go') });
    return { threadId, turnId: turn.id as string, question: await client.message(isRequest) };
  }

  test('are put again, under the same id, to who subscribes anew; one answer counts', async () => {
    await using model = await serve(run('touch made'), say('ok'));
    await using client = await startClient(model);
    const { threadId, question } = await waitingThread(client);
    const from = client.messages.length;
    const { thread } = await client.call('thread/resume', { threadId });
    expect(thread.status).toEqual({ type: 'active', activeFlags: ['waitingOnApproval'] });
    expect(await client.message(isRequest, from)).toEqual(question);
    client.send({ id: question.id, result: { decision: 'accept' } });
    client.send({ id: question.id, result: { decision: 'decline' } });
    await client.notification('turn/completed');
    expect((await client.notification('warning')).params.message).toContain(`request ${question.id}`);
    expect(existsSync(path.join(client.place.cwd, 'made'))).toBe(true);
    expect(client.complaints).toEqual([]);
  });

  test('wait for a client that left and comes back; meanwhile nothing is told', async () => {
    await using model = await serve(
      { gate: 'g', events: [{ call: 'exec_command', args: { cmd: 'touch made' }, id: 'c1' }, { done: true }] },
      say('ok'),
    );
    await using client = await startClient(model);
    const threadId = await startThread(client, asking);
    await client.call('turn/start', { threadId, input: input('go') });
    await model.waitForRequest(1);
    expect(await client.call('thread/unsubscribe', { threadId })).toEqual({ status: 'unsubscribed' });
    expect(await client.call('thread/unsubscribe', { threadId })).toEqual({ status: 'notSubscribed' });
    const from = client.messages.length;
    model.gate('g').open();
    while ((await client.call('thread/read', { threadId })).thread.status.activeFlags.length === 0);
    expect(client.messages.slice(from).filter(({ method }) => method !== undefined)).toEqual([]);
    await client.call('thread/resume', { threadId });
    client.send({ id: (await client.message(isRequest)).id, result: { decision: 'accept' } });
    await client.notification('turn/completed');
    expect(existsSync(path.join(client.place.cwd, 'made'))).toBe(true);
    expect(client.complaints).toEqual([]);
  });

  test('end with an interrupt: the answer after it does nothing', async () => {
    await using model = await serve(run('touch made'), say('never'));
    await using client = await startClient(model);
    const { threadId, turnId, question } = await waitingThread(client);
    await client.call('turn/interrupt', { threadId, turnId });
    client.send({ id: question.id, result: { decision: 'accept' } });
    expect((await client.notification('warning')).params.message).toMatch(/nobody waits/);
    expect((await client.notification('turn/completed')).params.turn.status).toBe('interrupted');
    expect(existsSync(path.join(client.place.cwd, 'made'))).toBe(false);
    expect(model.requests).toHaveLength(1);
    expect(client.complaints).toEqual([]);
  });
});

test.each<[string, (client: Client) => void, number]>([
  ['its stdin ends', ({ child }) => child.stdin?.end(), 0],
  ['it is told to end', ({ child }) => child.kill('SIGTERM'), 143],
])(
  'when %s, the turn is recorded as interrupted and no process stays, not even one that will not go',
  async (_name, end, status) => {
    await using model = await serve(run(`trap '' TERM HUP INT; echo $$ > pid; sleep 1000`), say('never'));
    await using client = await startClient(model);
    const threadId = await startThread(client);
    await client.call('turn/start', { threadId, input: input('go') });
    const pidFile = path.join(client.place.cwd, 'pid');
    while (!existsSync(pidFile) || (await readFile(pidFile, 'utf8')) === '') await new Promise(setImmediate);
    const { thread } = await client.call('thread/read', { threadId });
    const pid = Number(await readFile(pidFile, 'utf8'));
    end(client);
    expect(await client.ended).toBe(status);
    expect(() => process.kill(-pid, 0)).toThrow('ESRCH');
    expect(await readFile(thread.path, 'utf8')).toContain('"reason":"shutdown"');
  },
  5_000,
);

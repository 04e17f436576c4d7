/** Whatever the model's server does: a bounded number of requests, one typed end, and each call once. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  answer,
  command,
  createPlace,
  done,
  execArgs,
  hostSession,
  input,
  lines,
  outputs,
  type Place,
  requireBuild,
  retryingArgs,
  runProgram,
  serve,
  shape,
  step,
  threadFile,
} from './support.js';

beforeAll(requireBuild);
let place: Place;
beforeEach(async () => {
  place = await createPlace();
});
afterEach(() => place[Symbol.asyncDispose]());

const unconfined = ['--json', '-s', 'danger-full-access'];
const messages = (run: { stdout: string }) =>
  run.stdout
    .split('\n')
    .filter((line) => line.includes('"agent_message"'))
    .map((line) => JSON.parse(line).item.text);

test('a failure ends the turn although the server keeps the connection open', async () => {
  await using server = await serve({
    events: [{ failed: { code: 'server_error', message: 'it broke' } }, { hold: true }],
  });
  const run = await runProgram(execArgs(server, '--json', 'go'), { place });
  expect(run.status).toBe(1);
  expect(lines(run).at(-1)).toMatchObject({
    type: 'turn.failed',
    error: { message: expect.stringContaining('it broke') },
  });
  expect(server.requests).toHaveLength(1);
});

test('half an answer, then the end: one visible retry, one message', async () => {
  const half = { events: [{ open_text: 'Hello wor', chunks: 2 }, { eof: true }] };
  await using server = await serve(half, answer('Hello world'));
  const run = await runProgram(retryingArgs(server, 'stream_max_retries=2', '--json', 'go'), { place });
  expect(run.status).toBe(0);
  expect(messages(run)).toEqual(['Hello world']);
  expect(lines(run).filter((line) => line['type'] === 'error')).toHaveLength(1);
  expect(readFileSync(threadFile(place), 'utf8').match(/"agentMessage"/g)).toHaveLength(1);
});

test('an answer whose end was never announced is kept when the response is complete', async () => {
  await using server = await serve(step({ open_text: 'all of it' }));
  const run = await runProgram(execArgs(server, 'go'), { place });
  expect(run).toMatchObject({ status: 0, stdout: 'all of it\n' });
});

test('always silent in the middle of arguments: four requests for three retries, and the call never runs', async () => {
  const item = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'exec_command', arguments: '' };
  const stalled = {
    events: [
      { raw: { type: 'response.output_item.added', output_index: 0, item } },
      {
        raw: {
          type: 'response.function_call_arguments.delta',
          item_id: 'fc_1',
          output_index: 0,
          delta: '{"cmd":"touch ran"',
        },
      },
      { hold: true },
    ],
  };
  await using server = await serve(stalled, stalled, stalled, stalled, stalled);
  const retries = 'stream_max_retries=3,stream_idle_timeout_ms=200';
  const run = await runProgram(retryingArgs(server, retries, ...unconfined, 'go'), { place });
  expect(run.status).toBe(1);
  expect(server.requests).toHaveLength(4);
  expect(lines(run).at(-1)).toMatchObject({ error: { message: expect.stringMatching(/sent nothing for 0\.2 s/) } });
  expect(run.stdout).not.toContain('command_execution');
  expect(existsSync(path.join(place.cwd, 'ran'))).toBe(false);
});

test('a delay that the server names is waited for', async () => {
  const busy = { status: 429, headers: { 'retry-after': '1' }, body: { error: { message: 'slow down' } } };
  await using server = await serve(busy, answer('ok'));
  const run = await runProgram(retryingArgs(server, 'stream_max_retries=1', '--json', 'go'), { place });
  expect(run.status).toBe(0);
  const ended = readFileSync(threadFile(place), 'utf8')
    .split('\n')
    .find((line) => line.includes('"willRetry":true'));
  expect(JSON.parse(ended!).payload.result).toMatchObject({ delayMs: 1000 });
});

describe('call ids', () => {
  test('the same call twice in one response runs once', async () => {
    await using server = await serve(step(command('echo x >> mk'), command('echo x >> mk')), answer('ok'));
    await runProgram(execArgs(server, ...unconfined, 'go'), { place });
    expect(readFileSync(path.join(place.cwd, 'mk'), 'utf8')).toBe('x\n');
    expect(shape(server, 1)).toEqual(['call c1', 'output c1']);
  });

  test('an id that comes back in a later round is a new call', async () => {
    const twice = [step(command('echo 1 >> mk', 'shell_0')), step(command('echo 2 >> mk', 'shell_0'))];
    await using server = await serve(...twice, answer('ok'));
    await runProgram(execArgs(server, ...unconfined, 'go'), { place });
    expect(readFileSync(path.join(place.cwd, 'mk'), 'utf8')).toBe('1\n2\n');
    expect(shape(server, 2)).toEqual(['call shell_0', 'output shell_0', 'call shell_0', 'output shell_0']);
  });

  test('two different calls of one response under one id each get their own output', async () => {
    const slow = command('until [ -e fast ]; do :; done; echo slow', 'same');
    await using server = await serve(step(slow, command('touch fast; echo quick', 'same')), answer('ok'));
    const run = await runProgram(execArgs(server, ...unconfined, 'go'), { place });
    const [first, second] = outputs(server, 1);
    expect(first).toContain('slow');
    expect(second).toContain('quick');
    const ids = input(server, 1).flatMap((item) => item['call_id'] ?? []);
    expect(new Set(ids).size).toBe(2);
    const ended = lines(run).filter((line) => line['type'] === 'item.completed');
    expect(ended.filter((line) => JSON.stringify(line).includes('command_execution'))).toHaveLength(2);
  });
});

describe('chat completions', () => {
  test.each([
    ['with an index', { index: 0 }],
    ['without an index', {}],
  ])('arguments that arrive letter by letter, %s, are one call', async (_name, index) => {
    const text = JSON.stringify({ cmd: 'echo joined', yield_time_ms: 30_000 });
    const piece = (call: object) => ({
      raw: { choices: [{ index: 0, delta: { tool_calls: [{ ...index, ...call }] } }] },
    });
    const named = piece({ id: 'c1', type: 'function', function: { name: 'exec_command', arguments: '' } });
    const letters = [...text].map((letter) => piece({ function: { arguments: letter } }));
    const end = { raw: { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] } };
    await using server = await serve({ events: [named, ...letters, end, done] }, answer('ok'));
    const run = await runProgram(retryingArgs(server, 'wire_api="chat"', ...unconfined, 'go'), { place });
    expect(run.status).toBe(0);
    const sent = server.requests[1]?.body['messages'] as { role: string; content: string }[];
    const tools = sent.filter((message) => message.role === 'tool');
    expect(tools.map((tool) => tool.content)).toEqual([expect.stringContaining('joined')]);
  });

  test('a steer that arrives while two calls run comes after both outputs', async () => {
    const wait = (id: string) => command(`touch ${id}; until [ -e go ]; do :; done`, id);
    await using server = await serve(step(wait('a'), wait('b')), answer('ok'));
    await using session = await hostSession(place, server, 'chat');
    const thread = await session.start();
    const events = thread.events();
    await thread.submit([{ type: 'text', text: 'start' }]);
    let started = 0;
    for await (const event of events) {
      if (event.kind !== 'record') continue;
      const { record } = event.stored;
      if (record.type === 'tool.started' && ++started === 2) {
        expect(await thread.submit([{ type: 'text', text: 'steered' }])).toMatchObject({ kind: 'steered' });
        writeFileSync(path.join(place.cwd, 'go'), '');
      }
      if (record.type === 'turn.ended') break;
    }
    const sent = server.requests[1]?.body['messages'] as { role: string; content: unknown }[];
    const from = sent.findIndex((message) => message.role === 'assistant');
    expect(sent.slice(from).map((message) => message.role)).toEqual(['assistant', 'tool', 'tool', 'user']);
    expect(JSON.stringify(sent.at(-1)?.content)).toContain('steered');
  });
});

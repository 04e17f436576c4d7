/** The unmodified TypeScript SDK of the family drives our program. */
import { chmodSync } from 'node:fs';
import path from 'node:path';
import { Codex, type ThreadEvent } from '@openai/codex-sdk';
import { beforeAll, expect, test } from 'vitest';
import { createPlace, PROGRAM, requireBuild, serve } from './exec-support.js';

beforeAll(() => {
  requireBuild();
  chmodSync(PROGRAM, 0o755);
});

const answer = (text: string) => ({ events: [{ text }, { done: true }] });

async function openCodex(...steps: readonly unknown[]) {
  const place = await createPlace();
  const server = await serve(...steps);
  const codex = new Codex({
    codexPathOverride: PROGRAM,
    baseUrl: server.url,
    apiKey: 'sdk-key',
    env: { ...place.env, PATH: `${path.dirname(process.execPath)}:${place.env['PATH']}` },
  });
  const options = { workingDirectory: place.cwd, skipGitRepoCheck: true, model: 'gpt-5.5' } as const;
  return {
    codex,
    options,
    server,
    place,
    async [Symbol.asyncDispose]() {
      await server.close();
      await place[Symbol.asyncDispose]();
    },
  };
}

test('a streamed turn with a command', async () => {
  const command = {
    events: [{ call: 'exec_command', args: { cmd: 'echo from the sandbox' }, id: 'c1' }, { done: true }],
  };
  await using t = await openCodex(command, answer('all done'));
  const { events } = await t.codex
    .startThread({ ...t.options, approvalPolicy: 'on-failure' })
    .runStreamed('look around');
  const seen: ThreadEvent[] = [];
  for await (const event of events) seen.push(event);
  expect(seen.map((event) => event.type)).toEqual([
    'thread.started',
    'turn.started',
    'item.started',
    'item.completed',
    'item.completed',
    'turn.completed',
  ]);
  expect(seen[3]).toMatchObject({
    item: { type: 'command_execution', aggregated_output: 'from the sandbox\n', exit_code: 0, status: 'completed' },
  });
  expect(seen.at(-1)).toMatchObject({ usage: { input_tokens: 200, output_tokens: 20 } });
  expect(t.server.requests[0]?.headers['authorization']).toBe('Bearer sdk-key');
});

test('structured output, and a second turn on the same thread', async () => {
  await using t = await openCodex(answer('{"ok":true}'), answer('again'));
  const thread = t.codex.startThread(t.options);
  const schema = {
    type: 'object',
    properties: { ok: { type: 'boolean' } },
    required: ['ok'],
    additionalProperties: false,
  };
  const first = await thread.run('check', { outputSchema: schema });
  expect(JSON.parse(first.finalResponse)).toEqual({ ok: true });
  expect(t.server.requests[0]?.body['text']).toMatchObject({ format: { type: 'json_schema', strict: true, schema } });
  expect((await thread.run('and now?')).finalResponse).toBe('again');
  expect(t.server.requests[1]?.text).toContain('and now?');
  expect(t.server.requests[1]?.text).toContain('check');
});

test('a thread resumed by id from another client', async () => {
  await using t = await openCodex(answer('one'), answer('two'));
  const thread = t.codex.startThread(t.options);
  await thread.run('first');
  const resumed = t.codex.resumeThread(thread.id!, t.options);
  expect((await resumed.run('second')).finalResponse).toBe('two');
  expect(resumed.id).toBe(thread.id);
});

test('an image goes with the prompt', async () => {
  await using t = await openCodex(answer('a picture'));
  const image = path.resolve(import.meta.dirname, '../conformance/pixel.png');
  await t.codex.startThread(t.options).run([
    { type: 'text', text: 'what is this?' },
    { type: 'local_image', path: image },
  ]);
  expect(t.server.requests[0]?.text).toContain('data:image/png;base64,');
});

test('a failed turn rejects with the cause', async () => {
  await using t = await openCodex({ status: 400, body: { error: { message: 'no such luck' } } });
  await expect(t.codex.startThread(t.options).run('go')).rejects.toThrow('no such luck');
});

test('abort ends the process in the middle of an answer', async () => {
  await using t = await openCodex({
    events: [{ text: 'never finished', chunks: 3 }, { gate: 'never' }, { done: true }],
  });
  const abort = new AbortController();
  const run = t.codex.startThread(t.options).run('go', { signal: abort.signal });
  const rejected = expect(run).rejects.toThrow();
  await t.server.waitForRequest(1);
  abort.abort();
  await rejected;
  await t.server.waitForCut(1);
});

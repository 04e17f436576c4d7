import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { ModelEvent } from '../../src/model/index.js';
import type { Item } from '../../src/protocol/index.js';
import { collect, provider, request, user } from './model-support.js';

async function serveEvents(events: readonly { type: string }[]) {
  const seen: { path: string; headers: http.IncomingHttpHeaders; body: Record<string, unknown> }[] = [];
  const server = http.createServer(async (asked, answer) => {
    let text = '';
    for await (const piece of asked) text += piece;
    seen.push({ path: asked.url ?? '', headers: asked.headers, body: JSON.parse(text) });
    answer.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events) answer.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    answer.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, seen, [Symbol.asyncDispose]: close };
}

const start = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block });
const delta = (index: number, part: object) => ({ type: 'content_block_delta', index, delta: part });
const stop = (index: number) => ({ type: 'content_block_stop', index });
const begin = {
  type: 'message_start',
  message: { id: 'msg_x', usage: { input_tokens: 5, cache_read_input_tokens: 90, cache_creation_input_tokens: 3 } },
};
const ending = (stop_reason: string) => [
  { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 7 } },
  { type: 'message_stop' },
];

async function sample(events: readonly { type: string }[]): Promise<ModelEvent[]> {
  await using server = await serveEvents(events);
  return await collect(provider(server.url, { wireApi: 'messages' }));
}

const USAGE = {
  inputTokens: 98,
  cachedInputTokens: 90,
  cacheWriteInputTokens: 3,
  outputTokens: 7,
  reasoningOutputTokens: 0,
  totalTokens: 105,
};

describe('messages: responses', () => {
  test('signed thoughts, text and a call', async () => {
    const events = await sample([
      begin,
      { type: 'ping' },
      start(0, { type: 'thinking', thinking: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'hm' }),
      delta(0, { type: 'signature_delta', signature: 'S' }),
      stop(0),
      start(1, { type: 'text', text: '' }),
      delta(1, { type: 'text_delta', text: 'Hi' }),
      stop(1),
      start(2, { type: 'tool_use', id: 'toolu_1', name: 'exec_command', input: {} }),
      delta(2, { type: 'input_json_delta', partial_json: '{"cmd":' }),
      delta(2, { type: 'input_json_delta', partial_json: '"ls"}' }),
      stop(2),
      ...ending('tool_use'),
    ]);
    expect(events.filter((event) => event.type === 'item' || event.type === 'completed')).toEqual([
      { type: 'item', item: { type: 'reasoning', id: 'rs_1', summary: [], text: 'hm', encrypted: 'signature:S' } },
      { type: 'item', item: { type: 'agentMessage', id: 'msg_2', text: 'Hi' } },
      {
        type: 'item',
        item: {
          type: 'toolCall',
          id: 'fc_3',
          callId: 'toolu_1',
          tool: 'exec_command',
          payload: { kind: 'function', arguments: '{"cmd":"ls"}' },
        },
      },
      { type: 'completed', usage: USAGE, responseId: 'msg_x' },
    ]);
  });

  test('a call cut by the output limit is not given out; one broken by the model is', async () => {
    const call = [
      begin,
      start(0, { type: 'tool_use', id: 't', name: 'x', input: {} }),
      delta(0, { type: 'input_json_delta', partial_json: '{"cm' }),
      stop(0),
    ];
    const cut = await sample([...call, ...ending('max_tokens')]);
    expect(cut.some((event) => event.type === 'item')).toBe(false);
    expect(cut.at(-1)).toMatchObject({ type: 'incomplete', reason: 'max_output_tokens' });
    const broken = await sample([...call, ...ending('tool_use')]);
    expect(broken.find((event) => event.type === 'item')).toMatchObject({ item: { payload: { arguments: '{"cm' } } });
  });

  test.each<[string, object]>([
    ['end_turn', { type: 'completed' }],
    ['pause_turn', { type: 'completed', endTurn: false }],
    ['refusal', { type: 'failed', error: { kind: 'refused' } }],
    ['model_context_window_exceeded', { type: 'failed', error: { kind: 'contextFull' } }],
  ])('stop reason %s', async (reason, expected) => {
    expect((await sample([begin, ...ending(reason)])).at(-1)).toMatchObject(expected);
  });

  test('an error inside the stream', async () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    expect((await sample([begin, error])).at(-1)).toMatchObject({ type: 'failed', error: { kind: 'serverError' } });
  });

  test('a body that ends early has no last word', async () => {
    const events = await sample([
      begin,
      start(0, { type: 'text', text: '' }),
      delta(0, { type: 'text_delta', text: 'x' }),
    ]);
    expect(events.at(-1)?.type).toBe('text');
  });
});

test('messages: a request pairs calls with results and marks its end for the cache', async () => {
  await using server = await serveEvents([begin, ...ending('end_turn')]);
  const input: Item[] = [
    { type: 'context', id: 'd', role: 'developer', kind: 'instructions', text: 'base' },
    user('go'),
    { type: 'reasoning', id: 'r1', summary: [], text: 'hm', encrypted: 'signature:S' },
    { type: 'reasoning', id: 'r2', summary: ['other'], encrypted: 'sealed by someone else' },
    { type: 'toolCall', id: 'f1', callId: 'c1', tool: 'x', payload: { kind: 'function', arguments: '{"a":1}' } },
    { type: 'toolCall', id: 'f2', callId: 'c2', tool: 'x', payload: { kind: 'function', arguments: '' } },
    user('a steer', 'm2'),
    { type: 'toolOutput', id: 'o1', callId: 'c1', payloadKind: 'function', outcome: { kind: 'ok', text: 'one' } },
    {
      type: 'toolOutput',
      id: 'o2',
      callId: 'c2',
      payloadKind: 'function',
      outcome: { kind: 'rejected', by: 'user', text: 'no' },
    },
  ];
  const config = { wireApi: 'messages', apiKey: 'k' } as const;
  const tools = [{ name: 'x', description: 'd', kind: { type: 'function', parameters: { type: 'object' } } }] as const;
  await collect(
    provider(server.url, config),
    request(input, { model: 'claude-sonnet-4-5', tools, reasoningEffort: 'low' }),
  );
  const [seen] = server.seen;
  expect(seen?.path).toBe('/v1/messages');
  expect(seen?.headers).toMatchObject({ 'x-api-key': 'k', 'anthropic-version': '2023-06-01' });
  const cache_control = { type: 'ephemeral' };
  expect(seen?.body).toEqual({
    model: 'claude-sonnet-4-5',
    stream: true,
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 'S' },
          { type: 'tool_use', id: 'c1', name: 'x', input: { a: 1 } },
          { type: 'tool_use', id: 'c2', name: 'x', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: 'one' },
          { type: 'tool_result', tool_use_id: 'c2', content: 'no', is_error: true },
          { type: 'text', text: 'a steer', cache_control },
        ],
      },
    ],
    tools: [{ name: 'x', description: 'd', input_schema: { type: 'object' } }],
    tool_choice: { type: 'auto' },
    system: [{ type: 'text', text: 'base', cache_control }],
    thinking: { type: 'enabled', budget_tokens: 4000 },
    max_tokens: 32_000,
  });
});

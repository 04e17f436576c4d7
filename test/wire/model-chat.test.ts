import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { type ModelEvent, parseScript, serveScript } from '../../src/model/index.js';
import type { Item, ToolCallItem } from '../../src/protocol/index.js';
import { collect, provider, request, user } from './model-support.js';

/** A server that answers every request with these payloads. */
async function serveChunks(payloads: readonly (object | string)[], end: 'close' | 'cut' = 'close') {
  const bodies: Record<string, unknown>[] = [];
  const server = http.createServer(async (asked, answer) => {
    let text = '';
    for await (const piece of asked) text += piece;
    bodies.push(JSON.parse(text));
    answer.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const payload of payloads) {
      answer.write(`data: ${typeof payload === 'string' ? payload : JSON.stringify(payload)}\n\n`);
    }
    if (end === 'close') answer.end();
    else answer.write(':\n\n', () => answer.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, bodies, [Symbol.asyncDispose]: close };
}

async function serveDocument(document: object) {
  const server = http.createServer((asked, answer) => {
    asked.resume();
    answer.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
    answer.end(JSON.stringify(document));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, [Symbol.asyncDispose]: close };
}

const delta = (part: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta: part, finish_reason }],
});
const piece = (part: object) => delta({ tool_calls: [part] });

function calls(events: readonly ModelEvent[]): ToolCallItem[] {
  return events.flatMap((event) => (event.type === 'item' && event.item.type === 'toolCall' ? [event.item] : []));
}

async function sample(payloads: readonly (object | string)[], end: 'close' | 'cut' = 'close') {
  await using server = await serveChunks(payloads, end);
  return await collect(provider(server.url, { wireApi: 'chat' }));
}

const ARGUMENTS = '{"cmd":"echo one two three"}';

describe('chat completions: calls', () => {
  const letters = [...ARGUMENTS];
  const cases: [name: string, payloads: object[], expected: [callId: string, tool: string, args: string][]][] = [
    [
      'fragments of one character, told apart by index',
      [
        piece({ index: 0, id: 'c1', function: { name: 'exec_command', arguments: '' } }),
        ...letters.map((letter) => piece({ index: 0, function: { arguments: letter } })),
      ],
      [['c1', 'exec_command', ARGUMENTS]],
    ],
    [
      'fragments without index',
      [
        piece({ id: 'c1', function: { name: 'exec_command', arguments: '' } }),
        ...letters.map((letter) => piece({ function: { arguments: letter } })),
      ],
      [['c1', 'exec_command', ARGUMENTS]],
    ],
    [
      'the name repeated in every fragment',
      letters.map((letter) => piece({ index: 0, id: 'c1', function: { name: 'exec_command', arguments: letter } })),
      [['c1', 'exec_command', ARGUMENTS]],
    ],
    [
      'a whole call in one piece, without id, with arguments as an object',
      [piece({ index: 0, function: { name: 'exec_command', arguments: { cmd: 'ls' } } })],
      [['call_2', 'exec_command', '{"cmd":"ls"}']],
    ],
    [
      'two calls with interleaved indexes in order',
      [
        piece({ index: 0, id: 'a', function: { name: 'x', arguments: '{"n":' } }),
        piece({ index: 0, function: { arguments: '1}' } }),
        piece({ index: 1, id: 'b', function: { name: 'x', arguments: '{"n":2}' } }),
      ],
      [
        ['a', 'x', '{"n":1}'],
        ['b', 'x', '{"n":2}'],
      ],
    ],
    [
      'two calls numbered alike but with ids of their own',
      [
        piece({ index: 0, id: 'a', function: { name: 'x', arguments: '{"n":1}' } }),
        piece({ index: 0, id: 'b', function: { name: 'x', arguments: '{"n":2}' } }),
      ],
      [
        ['a', 'x', '{"n":1}'],
        ['b', 'x', '{"n":2}'],
      ],
    ],
    [
      'two whole calls of the same tool without index and id',
      [
        piece({ function: { name: 'x', arguments: '{"n":1}' } }),
        piece({ function: { name: 'x', arguments: '{"n":2}' } }),
      ],
      [
        ['call_2', 'x', '{"n":1}'],
        ['call_4', 'x', '{"n":2}'],
      ],
    ],
  ];
  test.each(cases)('%s', async (_name, payloads, expected) => {
    const events = await sample([...payloads, delta({}, 'tool_calls'), '[DONE]']);
    const found = calls(events).map((call) => [
      call.callId,
      call.tool,
      call.payload.kind === 'function' ? call.payload.arguments : '',
    ]);
    expect(found).toEqual(expected);
    expect(events.at(-1)?.type).toBe('completed');
  });

  test('an earlier call is given out when the next one begins, before the response ends', async () => {
    const events = await sample(
      [
        piece({ index: 0, id: 'a', function: { name: 'x', arguments: '{}' } }),
        piece({ index: 1, id: 'b', function: { name: 'y', arguments: '{' } }),
      ],
      'cut',
    );
    expect(calls(events).map((call) => call.callId)).toEqual(['a']);
    expect(events.at(-1)).toMatchObject({ type: 'failed', error: { kind: 'streamCut' } });
  });

  test('a call cut by the output limit is not given out', async () => {
    const events = await sample([
      delta({ content: 'I will' }),
      piece({ index: 0, id: 'a', function: { name: 'x', arguments: '{"pa' } }),
      delta({}, 'length'),
      '[DONE]',
    ]);
    expect(calls(events)).toEqual([]);
    expect(events.at(-1)).toEqual({ type: 'incomplete', reason: 'max_output_tokens' });
    expect(events.some((event) => event.type === 'item' && event.item.type === 'agentMessage')).toBe(true);
  });
});

describe('chat completions: responses', () => {
  test('thoughts, text and usage', async () => {
    const events = await sample([
      delta({ role: 'assistant', reasoning_content: 'hm, ' }),
      delta({ reasoning: 'yes' }),
      delta({ content: 'Hi' }),
      delta({ content: ' there' }),
      delta({}, 'stop'),
      {
        choices: [],
        usage: {
          prompt_tokens: 7,
          completion_tokens: 3,
          total_tokens: 10,
          prompt_tokens_details: { cached_tokens: 5 },
          completion_tokens_details: { reasoning_tokens: 2 },
        },
      },
      '[DONE]',
    ]);
    expect(events.filter((event) => event.type === 'item')).toEqual([
      { type: 'item', item: { type: 'reasoning', id: 'rs_1', summary: [], text: 'hm, yes' } },
      { type: 'item', item: { type: 'agentMessage', id: 'msg_2', text: 'Hi there' } },
    ]);
    expect(events.at(-1)).toEqual({
      type: 'completed',
      usage: {
        inputTokens: 7,
        cachedInputTokens: 5,
        cacheWriteInputTokens: 0,
        outputTokens: 3,
        reasoningOutputTokens: 2,
        totalTokens: 10,
      },
    });
  });

  test('thoughts between tags at the beginning of the text are thoughts', async () => {
    const events = await sample([
      delta({ content: '<thi' }),
      delta({ content: 'nk>hm</th' }),
      delta({ content: 'ink>\n\nHello <think>' }),
      delta({}, 'stop'),
    ]);
    expect(events.filter((event) => event.type === 'item')).toMatchObject([
      { item: { type: 'reasoning', text: 'hm' } },
      { item: { type: 'agentMessage', text: 'Hello <think>' } },
    ]);
  });

  test('a body that ends after the finish reason is complete without [DONE], one that ends before it is cut', async () => {
    expect((await sample([delta({ content: 'a' }, 'stop')])).at(-1)?.type).toBe('completed');
    expect((await sample([delta({ content: 'a' })])).at(-1)?.type).toBe('text');
  });

  test.each([
    [{ error: { message: 'no room', code: 'context_length_exceeded' } }, 'contextFull'],
    [{ error: 'model crashed' }, 'serverError'],
    [{ object: 'error', message: "This model's maximum context length is 4096 tokens", code: 400 }, 'contextFull'],
    [{ choices: [{ error: { code: 502, message: 'upstream' }, delta: {} }] }, 'serverError'],
  ])('an error inside the stream: %j', async (payload, kind) => {
    const failed = (await sample([delta({ content: 'a' }), payload])).at(-1);
    expect(failed).toMatchObject({ type: 'failed', error: { kind } });
    expect(failed).not.toHaveProperty('error.httpStatus', 502);
  });

  test('garbage between chunks is skipped', async () => {
    const events = await sample(['{nope', '[]', '7', { choices: 'x' }, delta({ content: 'ok' }, 'stop'), '[DONE]']);
    expect(events.at(-1)?.type).toBe('completed');
  });
});

describe('chat completions: requests', () => {
  const call = (id: string, callId: string): Item => ({
    type: 'toolCall',
    id,
    callId,
    tool: 'exec_command',
    payload: { kind: 'function', arguments: '{"cmd":"ls"}' },
  });
  const output = (callId: string, text: string): Item => ({
    type: 'toolOutput',
    id: `fco_${callId}`,
    callId,
    payloadKind: 'function',
    outcome: { kind: 'ok', text },
  });
  const context = (role: 'developer' | 'user', text: string): Item => ({
    type: 'context',
    id: `ctx_${text}`,
    role,
    kind: 'instructions',
    text,
  });

  async function messages(input: readonly Item[]): Promise<unknown> {
    await using server = await serveChunks([delta({ content: 'ok' }, 'stop')]);
    await collect(provider(server.url, { wireApi: 'chat' }), request(input));
    return server.bodies[0]?.['messages'];
  }

  test('all calls of a round are in one message, followed at once by their outputs; a steer comes after', async () => {
    const input = [
      context('developer', 'base'),
      context('developer', 'rules'),
      context('user', 'cwd'),
      user('go'),
      call('fc_1', 'c1'),
      call('fc_2', 'c2'),
      { type: 'agentMessage', id: 'msg_1', text: 'running' } as const,
      user('a steer'),
      output('c2', 'second'),
      output('c1', 'first'),
      user('later'),
    ];
    const toolCall = (id: string) => ({
      id,
      type: 'function',
      function: { name: 'exec_command', arguments: '{"cmd":"ls"}' },
    });
    expect(await messages(input)).toEqual([
      { role: 'system', content: 'base\n\nrules' },
      { role: 'user', content: 'cwd' },
      { role: 'user', content: 'go' },
      { role: 'assistant', content: 'running', tool_calls: [toolCall('c1'), toolCall('c2')] },
      { role: 'tool', tool_call_id: 'c1', content: 'first' },
      { role: 'tool', tool_call_id: 'c2', content: 'second' },
      { role: 'user', content: 'a steer' },
      { role: 'user', content: 'later' },
    ]);
  });

  test('rounds that reuse a call id stay apart', async () => {
    const input = [user('go'), call('fc_1', 's'), output('s', 'one'), call('fc_2', 's'), output('s', 'two')];
    expect(await messages(input)).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      { role: 'tool', content: 'one' },
      { role: 'assistant' },
      { role: 'tool', content: 'two' },
    ]);
  });

  test('broken and free-text arguments of the past are sent as JSON objects', async () => {
    const broken: Item = {
      type: 'toolCall',
      id: 'fc_1',
      callId: 'c1',
      tool: 'x',
      payload: { kind: 'function', arguments: '{"a":' },
    };
    const free: Item = {
      type: 'toolCall',
      id: 'ctc_1',
      callId: 'c2',
      tool: 'p',
      payload: { kind: 'custom', input: 'text' },
    };
    expect(await messages([broken, free, output('c1', ''), output('c2', '')])).toMatchObject([
      {
        tool_calls: [
          { function: { arguments: '{"unparsed_arguments":"{\\"a\\":"}' } },
          { function: { arguments: '{"input":"text"}' } },
        ],
      },
      { role: 'tool' },
      { role: 'tool' },
    ]);
  });

  test('tools, schema and effort', async () => {
    await using server = await serveChunks([delta({ content: 'ok' }, 'stop')]);
    await collect(
      provider(server.url, { wireApi: 'chat' }),
      request([user('go')], {
        outputSchema: { type: 'object' },
        reasoningEffort: 'high',
        tools: [
          { name: 'f', description: 'd', kind: { type: 'function', parameters: { type: 'object' } } },
          { name: 'p', description: 'd', kind: { type: 'custom', fallback: { type: 'object', properties: {} } } },
          { name: 'web_search', description: 'd', kind: { type: 'hosted', options: {} } },
        ],
      }),
    );
    expect(server.bodies[0]).toEqual({
      model: 'gpt-5.5',
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: 'user', content: 'go' }],
      tools: [
        { type: 'function', function: { name: 'f', description: 'd', parameters: { type: 'object' } } },
        { type: 'function', function: { name: 'p', description: 'd', parameters: { type: 'object', properties: {} } } },
      ],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      reasoning_effort: 'high',
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'turnwright_output_schema', strict: true, schema: { type: 'object' } },
      },
    });
  });

  test('a server that answers with one JSON document is understood', async () => {
    const answer = {
      choices: [
        {
          message: {
            content: 'whole',
            tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
          },
          finish_reason: 'tool_calls',
        },
      ],
    };
    await using server = await serveDocument(answer);
    const events = await collect(provider(server.url, { wireApi: 'chat' }));
    expect(calls(events).map((found) => found.callId)).toEqual(['c1']);
    expect(events.at(-1)?.type).toBe('completed');
  });

  test('the scripted server speaks this wire too', async () => {
    await using server = await serveScript(
      parseScript([
        {
          events: [
            { text: 'hello', chunks: 2 },
            { call: 'f', args: { a: 1 }, id: 'c1', chunks: 3 },
            { done: true, usage: 50 },
          ],
        },
      ]),
    );
    const events = await collect(provider(server.url, { wireApi: 'chat' }));
    expect(calls(events)).toMatchObject([{ callId: 'c1', tool: 'f', payload: { arguments: '{"a":1}' } }]);
    expect(events.at(-1)).toMatchObject({ type: 'completed', usage: { totalTokens: 50, inputTokens: 40 } });
  });
});

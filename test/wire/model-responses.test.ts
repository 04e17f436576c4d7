import { describe, expect, test } from 'vitest';
import { parseScript, type ScriptServer, serveScript } from '../../src/model/index.js';
import { collect, instantClock, provider, request, user } from './model-support.js';

const USAGE = {
  inputTokens: 100,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 10,
  reasoningOutputTokens: 0,
  totalTokens: 110,
};

function serve(...steps: object[]): Promise<ScriptServer> {
  return serveScript(parseScript(steps));
}

describe('the Responses wire', () => {
  test('text, reasoning and calls arrive with their ids, and the end with its usage', async () => {
    await using server = await serve({
      events: [
        { reasoning: '**Plan**' },
        { text: 'Hello "you" \\ {x}', chunks: 3, phase: 'commentary' },
        { call: 'exec_command', args: { cmd: 'ls' }, id: 'c1' },
        { custom: 'apply_patch', input: '*** Begin Patch', id: 'c2', chunks: 2 },
        { call: 'fail', namespace: 'mcp__echo', args: '{bad', id: 'c3' },
        { done: true, end_turn: false },
      ],
    });
    const events = await collect(provider(server.url));
    expect(events.filter((event) => event.type !== 'text' && event.type !== 'arguments')).toEqual([
      { type: 'itemStarted', itemId: 'rs_0_0', itemType: 'reasoning' },
      { type: 'reasoning', itemId: 'rs_0_0', part: 0, text: '**Plan**' },
      { type: 'item', item: { type: 'reasoning', id: 'rs_0_0', summary: ['**Plan**'], encrypted: 'enc_0_0' } },
      { type: 'itemStarted', itemId: 'msg_0_1', itemType: 'agentMessage' },
      { type: 'item', item: { type: 'agentMessage', id: 'msg_0_1', text: 'Hello "you" \\ {x}', phase: 'commentary' } },
      { type: 'itemStarted', itemId: 'fc_0_2', itemType: 'toolCall', tool: 'exec_command' },
      {
        type: 'item',
        item: {
          type: 'toolCall',
          id: 'fc_0_2',
          callId: 'c1',
          tool: 'exec_command',
          payload: { kind: 'function', arguments: '{"cmd":"ls"}' },
        },
      },
      { type: 'itemStarted', itemId: 'ctc_0_3', itemType: 'toolCall', tool: 'apply_patch' },
      {
        type: 'item',
        item: {
          type: 'toolCall',
          id: 'ctc_0_3',
          callId: 'c2',
          tool: 'apply_patch',
          payload: { kind: 'custom', input: '*** Begin Patch' },
        },
      },
      { type: 'itemStarted', itemId: 'fc_0_4', itemType: 'toolCall', tool: 'fail' },
      {
        type: 'item',
        item: {
          type: 'toolCall',
          id: 'fc_0_4',
          callId: 'c3',
          tool: 'fail',
          namespace: 'mcp__echo',
          payload: { kind: 'function', arguments: '{bad' },
        },
      },
      { type: 'completed', endTurn: false, usage: USAGE, responseId: 'resp_0' },
    ]);
    const text = events.map((event) => (event.type === 'text' ? event.text : '')).join('');
    expect(text).toBe('Hello "you" \\ {x}');
  });

  test('a failed response ends the sampling at once though the socket stays open', async () => {
    await using server = await serve({
      events: [{ text: 'half' }, { failed: { code: 'server_error', message: 'boom' } }, { hold: true }],
    });
    const events = await collect(provider(server.url));
    expect(events.at(-1)).toMatchObject({ type: 'failed', error: { kind: 'serverError' } });
    await server.waitForCut(1);
  });

  test('a body that ends early just ends; a dropped one fails as cut', async () => {
    await using server = await serve(
      { events: [{ open_text: 'two deltas', chunks: 2 }, { eof: true }] },
      {
        events: [{ open_text: 'x' }, { drop: true }],
      },
    );
    const model = provider(server.url);
    const first = await collect(model);
    expect(first.at(-1)?.type).toBe('text');
    const second = await collect(model);
    expect(second.at(-1)).toMatchObject({ type: 'failed', error: { kind: 'streamCut' } });
  });

  test('silence longer than the limit fails as idle, also in the middle of arguments', async () => {
    await using server = await serve({
      events: [
        {
          raw: {
            type: 'response.output_item.added',
            output_index: 0,
            item: { type: 'function_call', id: 'fc', name: 'x' },
          },
        },
        { raw: { type: 'response.function_call_arguments.delta', item_id: 'fc', delta: '{"cm' } },
        { hold: true },
      ],
    });
    const events = await collect(provider(server.url, { streamIdleTimeoutMs: 50 }));
    expect(events.map((event) => event.type)).toEqual(['itemStarted', 'arguments', 'failed']);
    expect(events.at(-1)).toMatchObject({ error: { kind: 'idleTimeout' } });
    await server.waitForCut(1);
  });

  test('abort rejects with the reason and drops the connection', async () => {
    await using server = await serve({ events: [{ open_text: 'x' }, { hold: true }] });
    const abort = new AbortController();
    const reading = (async () => {
      for await (const event of provider(server.url).sample(request([user('go')]), abort.signal)) {
        if (event.type === 'text') abort.abort(new Error('enough'));
      }
    })();
    await expect(reading).rejects.toThrow('enough');
    await server.waitForCut(1);
  });

  test('HTTP 5xx is retried silently with back-off, then final with its status', async () => {
    await using server = await serve(
      ...Array.from({ length: 2 }, () => ({ status: 503, body: { error: { message: 'busy' } } })),
      { events: [{ text: 'ok' }, { done: true }] },
      ...Array.from({ length: 3 }, () => ({ status: 500, body: '<html>oops</html>' })),
    );
    const clock = instantClock();
    const model = provider(server.url, { requestMaxRetries: 2 }, clock);
    expect((await collect(model)).at(-1)?.type).toBe('completed');
    expect(clock.slept).toEqual([200, 400]);
    const failed = (await collect(model)).at(-1);
    expect(failed).toMatchObject({ type: 'failed', error: { kind: 'serverError', httpStatus: 500 } });
    expect(JSON.stringify(failed)).not.toContain('html');
    expect(server.requests).toHaveLength(6);
  });

  test('a connection opened early serves the first request, and one the server closed meanwhile does no harm', async () => {
    await using server = await serve({ events: [{ done: true }] }, { events: [{ done: true }] });
    const model = provider(server.url, { requestMaxRetries: 0 });
    const opened = server.waitForConnection(1);
    model.warmUp?.();
    await opened;
    expect((await collect(model)).at(-1)?.type).toBe('completed');
    expect(server.connections).toBe(1);
    const other = provider(server.url, { requestMaxRetries: 0 });
    other.warmUp?.();
    await server.waitForConnection(2);
    server.dropConnections();
    expect((await collect(other)).at(-1)?.type).toBe('completed');
  });

  test('a delay the server names is waited for, silently for 5xx, by the caller for 429', async () => {
    await using server = await serve(
      { status: 503, headers: { 'retry-after': '2' } },
      { status: 429, headers: { 'retry-after': '3' }, body: { error: { message: 'slow down' } } },
    );
    const clock = instantClock();
    expect((await collect(provider(server.url, {}, clock))).at(-1)).toMatchObject({
      type: 'failed',
      error: { kind: 'rateLimited', retryAfterMs: 3000, httpStatus: 429 },
    });
    expect(clock.slept).toEqual([2000]);
  });

  test('a connection serves more than one request', async () => {
    const count = 10;
    await using server = await serve(
      ...Array.from({ length: count }, () => ({ events: [{ text: 'ok' }, { done: true }] })),
    );
    const model = provider(server.url);
    for (let i = 0; i < count; i++) expect((await collect(model)).at(-1)?.type).toBe('completed');
    expect(new Set(server.requests.map((seen) => seen.clientPort)).size).toBeLessThan(count);
  });
});

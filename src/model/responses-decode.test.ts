import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EventBuffer } from './event-buffer.js';
import type { ModelEvent } from './port.js';
import { ResponsesDecoder } from './responses-decode.js';
import { SseParser } from './sse.js';

const ids = () => {
  let n = 0;
  return { next: (kind: string) => `${kind}_${++n}`, chunk: () => '' };
};

function decode(payloads: readonly (object | string)[]): ModelEvent[] {
  const out = new EventBuffer();
  const deps = { ids: ids(), provider: { id: 'p', name: 'P', baseUrl: 'http://p' }, model: 'm' };
  const decoder = new ResponsesDecoder(out, deps);
  const events: ModelEvent[] = [];
  for (const payload of payloads) {
    decoder.payload(typeof payload === 'string' ? payload : JSON.stringify(payload));
    for (let event = out.shift(); event; event = out.shift()) events.push(event);
  }
  return events;
}

const delta = (text: string, more: object = {}) => ({
  type: 'response.output_text.delta',
  item_id: 'm1',
  output_index: 0,
  delta: text,
  ...more,
});

describe('text deltas', () => {
  test('the fast path and JSON agree on every text and form', () => {
    const form = fc.constantFrom<(text: string) => object>(
      (text) => delta(text),
      (text) => delta(text, { logprobs: [], obfuscation: 'x"y' }),
      (text) => delta(text, { logprobs: [{ token: 'a', delta: 'no', item_id: 'no' }] }),
      (text) => ({ type: 'response.output_text.delta', delta: text, item_id: 'm"1\\' }),
      (text) => ({ sequence_number: 1, ...delta(text) }),
    );
    const text = fc.oneof(fc.string(), fc.constantFrom('"', '\\', '{', '","item_id":"z', '"delta":"q"', '\u2028', ''));
    fc.assert(
      fc.property(form, text, (make, words) => {
        const payload = make(words) as { item_id: string };
        expect(decode([payload])).toEqual([{ type: 'text', itemId: payload.item_id, text: words }]);
      }),
    );
  });

  test('text that is not read yet is joined per item', () => {
    const out = new EventBuffer();
    const deps = { ids: ids(), provider: { id: 'p', name: 'P', baseUrl: 'http://p' }, model: 'm' };
    const decoder = new ResponsesDecoder(out, deps);
    for (const payload of [delta('a'), delta('b'), delta('c', { item_id: 'm2' }), delta('d')]) {
      decoder.payload(JSON.stringify(payload));
    }
    expect([out.shift(), out.shift()]).toEqual([
      { type: 'text', itemId: 'm1', text: 'ab' },
      { type: 'text', itemId: 'm2', text: 'c' },
    ]);
    expect(out.shift()).toEqual({ type: 'text', itemId: 'm1', text: 'd' });
    decoder.payload(JSON.stringify(delta('e')));
    expect(out.shift()).toEqual({ type: 'text', itemId: 'm1', text: 'e' });
    expect(out.shift()).toBeUndefined();
  });
});

test('whatever is not understood is skipped', () => {
  const garbage = ['{nope', '[1]', 'null', '""', { type: 7 }, { type: 'response.mystery', weird: true }, {}, '[DONE]'];
  const completed = { type: 'response.completed', response: {} };
  expect(decode([...garbage, completed])).toEqual([{ type: 'completed' }]);
});

test('nothing comes after the last word', () => {
  const failed = { type: 'response.failed', response: { error: { code: 'x', message: 'y' } } };
  expect(decode([failed, delta('late'), failed]).map((event) => event.type)).toEqual(['failed']);
});

test('reasoning: summary parts, raw text and sealed state', () => {
  const at = { item_id: 'r1', output_index: 0 };
  expect(
    decode([
      { type: 'response.output_item.added', item: { type: 'reasoning', id: 'r1', summary: [] } },
      { type: 'response.reasoning_summary_text.delta', ...at, summary_index: 1, delta: 's' },
      { type: 'response.reasoning_text.delta', ...at, content_index: 0, delta: 'raw' },
      {
        type: 'response.output_item.done',
        item: {
          type: 'reasoning',
          id: 'r1',
          summary: [
            { type: 'summary_text', text: 'a' },
            { type: 'summary_text', text: 'b' },
          ],
          content: [{ type: 'reasoning_text', text: 'raw' }],
          encrypted_content: 'E',
        },
      },
    ]),
  ).toEqual([
    { type: 'itemStarted', itemId: 'r1', itemType: 'reasoning' },
    { type: 'reasoning', itemId: 'r1', part: 1, text: 's' },
    { type: 'reasoning', itemId: 'r1', part: 0, text: 'raw', raw: true },
    { type: 'item', item: { type: 'reasoning', id: 'r1', summary: ['a', 'b'], text: 'raw', encrypted: 'E' } },
  ]);
});

test('items without id get one that their deltas share', () => {
  const events = decode([
    { type: 'response.output_item.added', output_index: 3, item: { type: 'message' } },
    { type: 'response.output_text.delta', output_index: 3, delta: 'x' },
    { type: 'response.output_item.done', output_index: 3, item: { type: 'message', content: [{ text: 'x' }] } },
  ]);
  expect(events).toEqual([
    { type: 'itemStarted', itemId: 'msg_1', itemType: 'agentMessage' },
    { type: 'text', itemId: 'msg_1', text: 'x' },
    { type: 'item', item: { type: 'agentMessage', id: 'msg_1', text: 'x' } },
  ]);
});

test('tools the provider ran, and kinds of items not known, are kept whole', () => {
  const search = { type: 'web_search_call', id: 'ws', status: 'completed', action: { type: 'search', query: 'q' } };
  const novel = { type: 'hologram', id: 'h' };
  const done = (item: object) => ({ type: 'response.output_item.done', item });
  expect(decode([done(search), done(novel)])).toEqual([
    { type: 'item', item: { type: 'hostedCall', id: 'ws', tool: 'web_search', raw: search } },
    { type: 'item', item: { type: 'hostedCall', id: 'h', tool: 'hologram', raw: novel } },
  ]);
});

test('a call cut by the output limit is not given out', () => {
  const item = { type: 'custom_tool_call', id: 'k', call_id: 'c', name: 'p', input: 'half', status: 'incomplete' };
  const incomplete = { type: 'response.incomplete', response: { incomplete_details: { reason: 'max_output_tokens' } } };
  expect(decode([{ type: 'response.output_item.done', item }, incomplete])).toEqual([
    { type: 'incomplete', reason: 'max_output_tokens' },
  ]);
});

test('a response that was not streamed is understood whole', () => {
  const output = [{ type: 'message', id: 'm', content: [{ type: 'output_text', text: 'hi' }] }];
  const item = { type: 'item', item: { type: 'agentMessage', id: 'm', text: 'hi' } };
  expect(decode([{ object: 'response', id: 'r', status: 'completed', output }])).toEqual([
    item,
    { type: 'completed', responseId: 'r' },
  ]);
  expect(decode([{ type: 'response.completed', response: { output } }])).toEqual([item, { type: 'completed' }]);
  expect(decode([{ error: { message: 'no', code: 'insufficient_quota' } }])).toMatchObject([
    { type: 'failed', error: { kind: 'usageLimit' } },
  ]);
});

test.each([
  [{ type: 'error', code: 'rate_limit_exceeded', message: 'try again in 2s' }, 'rateLimited'],
  [{ type: 'error', error: { type: 'invalid_request_error', message: 'x' } }, 'badRequest'],
  [{ type: 'response.failed', response: { error: null } }, 'serverError'],
])('an error event: %j', (event, kind) => {
  expect(decode([event])).toMatchObject([{ type: 'failed', error: { kind } }]);
});

test('usage with its details', () => {
  const usage = {
    input_tokens: 1000,
    input_tokens_details: { cached_tokens: 400 },
    output_tokens: 50,
    output_tokens_details: { reasoning_tokens: 20 },
    total_tokens: 1050,
  };
  expect(decode([{ type: 'response.completed', response: { id: 'r', end_turn: true, usage } }])).toEqual([
    {
      type: 'completed',
      endTurn: true,
      responseId: 'r',
      usage: {
        inputTokens: 1000,
        cachedInputTokens: 400,
        cacheWriteInputTokens: 0,
        outputTokens: 50,
        reasoningOutputTokens: 20,
        totalTokens: 1050,
      },
    },
  ]);
});

test('a stream means the same wherever its bytes are cut', () => {
  const stream = [
    { type: 'response.output_item.added', item: { type: 'message', id: 'm1' } },
    delta('Grüße, 世界 👋 '),
    delta('"quoted" {braces}'),
    { type: 'response.output_item.done', item: { type: 'message', id: 'm1', content: [{ text: 'Grüße' }] } },
    { type: 'response.completed', response: { id: 'r' } },
  ]
    .map((event) => `event: ${event.type}\r\ndata: ${JSON.stringify(event)}\r\n\r\n`)
    .join('');
  const bytes = Buffer.from(stream);
  const run = (cuts: readonly number[]): ModelEvent[] => {
    const payloads: string[] = [];
    const parser = new SseParser((data) => payloads.push(data));
    const decoder = new TextDecoder();
    const places = [...new Set(cuts.map((cut) => cut % bytes.length))].sort((a, b) => a - b);
    for (const [i, end] of [...places, bytes.length].entries()) {
      parser.push(decoder.decode(bytes.subarray(i === 0 ? 0 : places[i - 1], end), { stream: true }));
    }
    return decode(payloads);
  };
  const whole = run([]);
  expect(whole).toHaveLength(5);
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 30 }), (cuts) => {
      expect(run(cuts)).toEqual(whole);
    }),
  );
});

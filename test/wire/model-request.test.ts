import { mkdtemp, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ModelRequest,
  type ProviderConfig,
  parseScript,
  serveScript,
  type ToolSpec,
} from '../../src/model/index.js';
import type { Item } from '../../src/protocol/index.js';
import { collect, provider, request, user } from './model-support.js';

const TOOLS: readonly ToolSpec[] = [
  { name: 'exec_command', description: 'runs', kind: { type: 'function', parameters: { type: 'object' } } },
  {
    name: 'apply_patch',
    description: 'edits',
    kind: {
      type: 'custom',
      grammar: { syntax: 'lark', definition: 'start: "x"' },
      fallback: { type: 'object', properties: { input: { type: 'string' } } },
    },
  },
  {
    name: 'web_search',
    description: 'searches',
    kind: { type: 'hosted', options: { type: 'web_search', external_web_access: false } },
  },
];

async function bodies(requests: readonly ModelRequest[], config: Partial<ProviderConfig> = {}): Promise<string[]> {
  await using server = await serveScript(parseScript({ responses: [{ events: [{ done: true }] }], after: 'repeat' }));
  const model = provider(server.url, config);
  for (const asked of requests) await collect(model, asked);
  return server.requests.map((seen) => seen.text);
}

async function body(asked: ModelRequest, config: Partial<ProviderConfig> = {}): Promise<Record<string, unknown>> {
  return JSON.parse((await bodies([asked], config))[0]!);
}

describe('a Responses request', () => {
  test('has the recorded fields, in the recorded order, and no instructions', async () => {
    const asked = request([user('go')], { tools: TOOLS, verbosity: 'high', metadata: { turn_id: 't' } });
    const sent = await body(asked);
    expect(Object.keys(sent)).toEqual([
      'model',
      'stream',
      'input',
      'tools',
      'tool_choice',
      'parallel_tool_calls',
      'reasoning',
      'store',
      'include',
      'prompt_cache_key',
      'text',
      'client_metadata',
    ]);
    expect(sent).toEqual({
      model: 'gpt-5.5',
      stream: true,
      input: [{ type: 'message', id: 'msg_u', role: 'user', content: [{ type: 'input_text', text: 'go' }] }],
      tools: [
        { type: 'function', name: 'exec_command', description: 'runs', strict: false, parameters: { type: 'object' } },
        {
          type: 'custom',
          name: 'apply_patch',
          description: 'edits',
          format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
        },
        { type: 'web_search', external_web_access: false },
      ],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      reasoning: { effort: 'medium' },
      store: false,
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: 'thread-1',
      text: { verbosity: 'high' },
      client_metadata: { turn_id: 't' },
    });
  });

  test('for an unknown model offers function tools only and passes on what was asked', async () => {
    const sent = await body(request([user('go')], { model: 'mystery', tools: TOOLS, reasoningSummary: 'auto' }));
    expect(sent['tools']).toMatchObject([{ type: 'function' }, { type: 'function', name: 'apply_patch' }, {}]);
    expect(sent['reasoning']).toEqual({ summary: 'auto' });
    expect(sent).not.toHaveProperty('text');
  });

  test('for a known model without reasoning leaves reasoning out', async () => {
    const sent = await body(request([user('go')], { model: 'gpt-4.1', reasoningEffort: 'high' }));
    expect(sent).not.toHaveProperty('reasoning');
  });

  test('carries an output schema as text.format', async () => {
    const schema = { type: 'object', properties: {} };
    const strict = await body(request([user('go')], { outputSchema: schema }));
    expect(strict['text']).toMatchObject({ format: { type: 'json_schema', strict: true, schema } });
    const loose = await body(request([user('go')], { outputSchema: schema, outputSchemaStrict: false }));
    expect(loose['text']).toMatchObject({ format: { strict: false } });
  });

  test('encodes every kind of item', async () => {
    const items: Item[] = [
      { type: 'context', id: 'm1', role: 'developer', kind: 'instructions', text: 'base' },
      { type: 'context', id: 'm2', role: 'user', kind: 'environment', text: 'cwd' },
      {
        type: 'userMessage',
        id: 'm3',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image', url: 'https://x/y.png' },
        ],
      },
      { type: 'reasoning', id: 'r1', summary: ['s'], text: 'raw', encrypted: 'ENC' },
      { type: 'reasoning', id: 'r2', summary: [], text: 'raw' },
      { type: 'agentMessage', id: 'm4', text: 'hi', phase: 'commentary' },
      { type: 'agentMessage', id: 'm5', text: 'half', incomplete: true },
      {
        type: 'toolCall',
        id: 'f1',
        callId: 'c1',
        tool: 't',
        namespace: 'ns',
        payload: { kind: 'function', arguments: '{' },
      },
      { type: 'toolCall', id: 'k1', callId: 'c2', tool: 'p', payload: { kind: 'custom', input: 'patch' } },
      {
        type: 'toolOutput',
        id: 'o1',
        callId: 'c1',
        payloadKind: 'function',
        outcome: { kind: 'aborted', text: 'stopped' },
      },
      {
        type: 'toolOutput',
        id: 'o2',
        callId: 'c2',
        payloadKind: 'custom',
        outcome: {
          kind: 'ok',
          text: '',
          content: [
            { type: 'text', text: 'a' },
            { type: 'image', url: 'data:x', detail: 'low' },
          ],
        },
      },
      {
        type: 'toolOutput',
        id: 'o3',
        callId: 'c3',
        payloadKind: 'function',
        outcome: { kind: 'ok', text: 'x' },
        modelText: 'hook',
      },
      { type: 'toolOutput', id: 'o4', callId: '', payloadKind: 'function', outcome: { kind: 'ok', text: 'open file' } },
      {
        type: 'hostedCall',
        id: 'w1',
        tool: 'web_search',
        raw: { type: 'web_search_call', id: 'w1', action: { query: 'q' } },
      },
    ];
    const sent = await body(request(items));
    expect(sent['input']).toEqual([
      { type: 'message', id: 'm1', role: 'developer', content: [{ type: 'input_text', text: 'base' }] },
      { type: 'message', id: 'm2', role: 'user', content: [{ type: 'input_text', text: 'cwd' }] },
      {
        type: 'message',
        id: 'm3',
        role: 'user',
        content: [
          { type: 'input_text', text: 'see' },
          { type: 'input_image', image_url: 'https://x/y.png' },
        ],
      },
      { type: 'reasoning', id: 'r1', summary: [{ type: 'summary_text', text: 's' }], encrypted_content: 'ENC' },
      { type: 'reasoning', id: 'r2', summary: [], content: [{ type: 'reasoning_text', text: 'raw' }] },
      {
        type: 'message',
        id: 'm4',
        role: 'assistant',
        phase: 'commentary',
        content: [{ type: 'output_text', text: 'hi' }],
      },
      {
        type: 'message',
        id: 'm5',
        role: 'assistant',
        status: 'incomplete',
        content: [{ type: 'output_text', text: 'half' }],
      },
      { type: 'function_call', id: 'f1', name: 't', namespace: 'ns', arguments: '{', call_id: 'c1' },
      { type: 'custom_tool_call', id: 'k1', call_id: 'c2', name: 'p', input: 'patch' },
      { type: 'function_call_output', id: 'o1', call_id: 'c1', output: 'stopped' },
      {
        type: 'custom_tool_call_output',
        id: 'o2',
        call_id: 'c2',
        output: [
          { type: 'input_text', text: 'a' },
          { type: 'input_image', image_url: 'data:x', detail: 'low' },
        ],
      },
      { type: 'function_call_output', id: 'o3', call_id: 'c3', output: 'hook' },
      { type: 'function_call_output', id: 'o4', output: 'open file' },
      { type: 'web_search_call', id: 'w1', action: { query: 'q' } },
    ]);
  });

  test('sends a local image as data, a file that is none as a note, and keeps what it first sent', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'tw-image-'));
    const png = Buffer.from('89504e470d0a1a0a00000000', 'hex');
    await writeFile(path.join(folder, 'a.png'), png);
    await writeFile(path.join(folder, 'b.png'), 'text');
    const message: Item = {
      type: 'userMessage',
      id: 'm',
      content: ['a.png', 'b.png', 'missing.png'].map((name) => ({ type: 'localImage', path: path.join(folder, name) })),
    };
    await using server = await serveScript(parseScript({ responses: [{ events: [{ done: true }] }], after: 'repeat' }));
    const model = provider(server.url);
    await collect(model, request([message]));
    await writeFile(path.join(folder, 'a.png'), 'changed');
    await collect(model, request([message, user('again', 'm2')]));
    const [first, second] = server.requests.map((seen) => (seen.body['input'] as { content: unknown[] }[])[0]?.content);
    expect(first).toMatchObject([
      { type: 'input_image', image_url: `data:image/png;base64,${png.toString('base64')}` },
      { type: 'input_text', text: expect.stringContaining('not a PNG') },
      { type: 'input_text', text: expect.stringContaining('missing.png could not be read') },
    ]);
    expect(second).toEqual(first);
  });
});

describe('prefix stability', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 20 });
  const item: fc.Arbitrary<(n: number) => Item[]> = fc.oneof(
    text.map((words) => (n: number): Item[] => [user(words, `msg_${n}`)]),
    text.map((words) => (n: number): Item[] => [{ type: 'agentMessage', id: `msg_${n}`, text: words }]),
    text.map((words) => (n: number): Item[] => [
      { type: 'reasoning', id: `rs_${n}`, summary: [words], encrypted: 'E' },
    ]),
    fc.tuple(text, fc.boolean()).map(([words, custom]) => (n: number): Item[] => [
      {
        type: 'toolCall',
        id: `fc_${n}`,
        callId: `c_${n}`,
        tool: 't',
        payload: custom ? { kind: 'custom', input: words } : { kind: 'function', arguments: JSON.stringify({ words }) },
      },
      {
        type: 'toolOutput',
        id: `fco_${n}`,
        callId: `c_${n}`,
        payloadKind: custom ? 'custom' : 'function',
        outcome: { kind: 'ok', text: words },
      },
    ]),
  );
  const history = fc.array(item, { minLength: 2, maxLength: 12 }).map((parts) => parts.map((make, n) => make(n)));

  test.each<[ProviderConfig['wireApi'], string]>([
    ['responses', 'input'],
    ['chat', 'messages'],
  ])('%s: the input of a request begins with the bytes of the one before', async (wireApi, field) => {
    await using server = await serveScript(parseScript({ responses: [{ events: [{ done: true }] }], after: 'repeat' }));
    const model = provider(server.url, { wireApi });
    await fc.assert(
      fc.asyncProperty(history, fc.nat(), async (steps, cut) => {
        // A request is made after outside input or an output; the model's own items come in between.
        const ends = steps.flatMap((step, i) =>
          ['userMessage', 'toolOutput'].includes(step.at(-1)!.type) ? [i + 1] : [],
        );
        if (ends.length === 0) return;
        const shorter = steps.slice(0, ends[cut % ends.length]).flat();
        await collect(model, request(shorter));
        await collect(model, request(steps.flat()));
        const [before, after] = server.requests.slice(-2).map((seen) => listBytes(seen.text, field));
        expect(after?.startsWith(before!)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  /** The bytes of the list, without its closing bracket. */
  function listBytes(sent: string, field: string): string {
    const from = sent.indexOf(`"${field}":[`) + field.length + 4;
    const list = JSON.stringify((JSON.parse(sent) as Record<string, unknown>)[field]).slice(1, -1);
    expect(sent.slice(from, from + list.length)).toBe(list);
    return list;
  }
});

test('headers: key, fixed ones, ones from the environment, query', async () => {
  await using server = await serveScript(parseScript([{ events: [{ done: true }] }]));
  const { createProvider } = await import('../../src/model/index.js');
  const { countingIds, instantClock } = await import('./model-support.js');
  const model = createProvider(
    {
      id: 'x',
      baseUrl: `${server.url}/`,
      wireApi: 'responses',
      envKey: 'X_KEY',
      queryParams: { 'api-version': '1' },
      httpHeaders: { 'X-Team': 'blue' },
      envHttpHeaders: { 'X-Org': 'ORG', 'X-None': 'NONE' },
    },
    { env: { X_KEY: ' secret ', ORG: 'o1' }, clock: instantClock(), ids: countingIds() },
  );
  await collect(model);
  const [seen] = server.requests;
  expect(seen?.path).toBe('/v1/responses?api-version=1');
  expect(seen?.headers).toMatchObject({ authorization: 'Bearer secret', 'x-team': 'blue', 'x-org': 'o1' });
  expect(seen?.headers).not.toHaveProperty('x-none');
});

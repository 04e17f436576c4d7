import { mkdtemp, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Item } from '../protocol/index.js';
import type { ModelEvent, ModelProvider } from './port.js';
import { loadScript, parseScript, scriptFileOf } from './script.js';
import { createScriptedProvider } from './scripted-provider.js';

const user = (text: string): Item => ({ type: 'userMessage', id: 'u', content: [{ type: 'text', text }] });
const output = (text: string): Item => ({
  type: 'toolOutput',
  id: 'o',
  callId: 'c',
  payloadKind: 'function',
  outcome: { kind: 'ok', text },
});

async function collect(model: ModelProvider, input: readonly Item[] = [user('go')]): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  const request = { model: 'x', input, tools: [], cacheKey: 't', metadata: {} };
  for await (const event of model.sample(request, new AbortController().signal)) events.push(event);
  return events;
}

describe('scripts', () => {
  test.each<[string, unknown, RegExp]>([
    ['not a list', { x: 1 }, /must be a list of steps/],
    ['no steps', [], /has no steps/],
    ['an empty step', [{}], /step 1: needs "events" or "status"/],
    ['an unknown key', [{ events: [] }, { events: [], evens: 1 }], /step 2: unknown key "evens" \(known: events/],
    [
      'an unknown event',
      [{ events: [{ done: true }, { txt: 'a' }] }],
      /step 1, event 2: needs exactly one of text.*got txt/,
    ],
    ['two words', [{ events: [{ text: 'a', call: 'b' }] }], /event 1: .*got text and call/],
    ['a text that is none', [{ events: [{ text: 5 }] }], /text must be a text/],
    ['a custom call without input', [{ events: [{ custom: 'p' }] }], /custom needs "input"/],
    ['a bad status', [{ status: 'no' }], /status must be an HTTP status/],
  ])('%s', (_name, value, message) => {
    expect(() => parseScript(value, 'demo.json')).toThrow(message);
    expect(() => parseScript(value, 'demo.json')).toThrow(expect.objectContaining({ code: 'TW_SCRIPT' }));
    expect(() => parseScript(value, 'demo.json')).toThrow(/^demo\.json: /);
  });

  test('a file that is missing or not JSON is named', async () => {
    const file = path.join(await mkdtemp(path.join(os.tmpdir(), 'tw-script-')), 's.json');
    await expect(loadScript(file)).rejects.toThrow(`${file}: cannot be read`);
    await writeFile(file, '[{');
    await expect(loadScript(file)).rejects.toThrow(`${file}: not valid JSON`);
    await writeFile(file, '[{"events":[{"text":"hi"},{"done":true}]}]');
    expect((await loadScript(file)).steps).toHaveLength(1);
  });
});

test('a model name can name a script', () => {
  expect(['scripted:a/b.json', 'scripted:', 'gpt-5.5'].map(scriptFileOf)).toEqual(['a/b.json', undefined, undefined]);
});

describe('the scripted model', () => {
  test('answers step by step and says when it has no more', async () => {
    const model = createScriptedProvider(
      parseScript([{ events: [{ text: 'one' }, { done: true }] }, { status: 429, headers: { 'Retry-After': '2' } }]),
      { source: 'demo.json' },
    );
    expect((await collect(model)).map((event) => event.type)).toEqual(['itemStarted', 'text', 'item', 'completed']);
    expect(await collect(model)).toMatchObject([
      { type: 'failed', error: { kind: 'rateLimited', retryAfterMs: 2000 } },
    ]);
    expect(await collect(model)).toMatchObject([
      { type: 'failed', error: { kind: 'internal', message: 'demo.json: has no step for request 3' } },
    ]);
    expect(model.requests).toHaveLength(3);
  });

  test('repeats its last step when told to', async () => {
    const model = createScriptedProvider(parseScript({ responses: [{ events: [{ done: true }] }], after: 'repeat' }));
    await collect(model);
    expect((await collect(model)).at(-1)?.type).toBe('completed');
  });

  test('fails loudly when the conversation is not what the step expects', async () => {
    const step = { expect: 'exited with code 0', events: [{ done: true }] };
    const fits = createScriptedProvider(parseScript([step]));
    expect((await collect(fits, [user('go'), output('Process exited with code 0')])).at(-1)?.type).toBe('completed');
    const differs = createScriptedProvider(parseScript([step]));
    expect(await collect(differs, [output('exited with code 0'), user('stop')])).toMatchObject([
      { type: 'failed', error: { message: expect.stringContaining('"exited with code 0"; it was "stop"') } },
    ]);
  });

  test.each(['<SESSION_ID>', '{{SESSION}}'])(
    'puts the announced session number in place of %s',
    async (placeholder) => {
      const events = [
        { call: 'write_stdin', args: { session_id: placeholder, chars: '' }, id: 'a' },
        { call: 'write_stdin', args: `{"session_id":"${placeholder}"}`, id: 'b' },
      ];
      const model = createScriptedProvider(parseScript([{ events }]));
      const found = await collect(model, [output('running with session ID 7'), output('running with session ID 42')]);
      const args = found.flatMap((event) =>
        event.type === 'item' && event.item.type === 'toolCall' && event.item.payload.kind === 'function'
          ? [event.item.payload.arguments]
          : [],
      );
      expect(args).toEqual(['{"session_id":42,"chars":""}', '{"session_id":42}']);
    },
  );

  test('waits at gates, and an abort ends the wait', async () => {
    const model = createScriptedProvider(
      parseScript([{ events: [{ gate: 'g' }, { done: true }] }, { events: [{ hold: true }] }]),
    );
    const waiting = collect(model);
    model.gate('g').open();
    expect((await waiting).at(-1)?.type).toBe('completed');
    const abort = new AbortController();
    const request = { model: 'x', input: [], tools: [], cacheKey: 't', metadata: {} };
    const held = model.sample(request, abort.signal)[Symbol.asyncIterator]().next();
    abort.abort(new Error('enough'));
    await expect(held).rejects.toThrow('enough');
  });
});

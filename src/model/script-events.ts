/** Script events as the Responses events a real provider would send. */
import type { Json } from './json.js';
import { objectOf } from './json.js';
import { type ScriptEvent, wordOf } from './script.js';

/** Something a script does that is not an event. */
export type ScriptAction =
  | { readonly do: 'send'; readonly event: Json }
  | { readonly do: 'gate'; readonly name: string }
  | { readonly do: 'wait'; readonly ms: number }
  /** Cut the connection. */
  | { readonly do: 'drop' }
  /** End the body here. */
  | { readonly do: 'eof' }
  /** Stay open and silent until the other side leaves. */
  | { readonly do: 'hold' };

export const SCRIPT_USAGE = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 10,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 110,
};

/** The actions of the `index`-th event of request `n`, both from 0. Ids are made from the two numbers. */
export function* scriptActions(event: ScriptEvent, n: number, index: number): Generator<ScriptAction> {
  switch (wordOf(event)) {
    case 'gate':
      return yield { do: 'gate', name: String(event['gate']) };
    case 'wait_ms':
      return yield { do: 'wait', ms: Number(event['wait_ms']) };
    case 'drop':
      return yield { do: 'drop' };
    case 'eof':
      return yield { do: 'eof' };
    case 'hold':
      return yield { do: 'hold' };
    default:
      for (const sent of wireEvents(event, n, index)) yield { do: 'send', event: sent };
  }
}

/** Replaces the placeholders for a session number inside an event's arguments. */
export function withSession(event: ScriptEvent, session: string): ScriptEvent {
  const text = JSON.stringify(event);
  if (!text.includes('<SESSION_ID>') && !text.includes('{{SESSION}}')) return event;
  return JSON.parse(text.replace(/(\\?")(?:<SESSION_ID>|\{\{SESSION\}\})\1/g, session)) as ScriptEvent;
}

/** The session number the latest command output announced. */
export function announcedSession(outputs: Iterable<string>): string {
  let session = '0';
  for (const output of outputs) session = /session ID (\d+)/.exec(output)?.[1] ?? session;
  return session;
}

function* wireEvents(event: ScriptEvent, n: number, index: number): Generator<Json> {
  const word = wordOf(event);
  switch (word) {
    case 'text':
    case 'open_text':
      return yield* message(event, String(event[word]), word === 'text', n, index);
    case 'reasoning':
      return yield* reasoning(event, n, index);
    case 'call':
      return yield* call(event, n, index);
    case 'custom':
      return yield* custom(event, n, index);
    case 'done':
      return yield {
        type: 'response.completed',
        response: {
          id: `resp_${n}`,
          usage: usageOf(event['usage']),
          ...(event['end_turn'] === undefined ? {} : { end_turn: event['end_turn'] }),
        },
      };
    case 'failed':
      return yield { type: 'response.failed', response: { id: `resp_${n}`, error: event['failed'] } };
    case 'incomplete':
      return yield {
        type: 'response.incomplete',
        response: { id: `resp_${n}`, incomplete_details: { reason: event['incomplete'] } },
      };
    default:
      yield objectOf(event['raw']);
  }
}

function usageOf(value: unknown): unknown {
  if (value === undefined) return SCRIPT_USAGE;
  return typeof value === 'number' ? { ...SCRIPT_USAGE, input_tokens: value - 10, total_tokens: value } : value;
}

function* message(event: ScriptEvent, text: string, whole: boolean, n: number, index: number): Generator<Json> {
  const item_id = event['id'] ?? `msg_${n}_${index}`;
  const phase = event['phase'] === undefined ? {} : { phase: event['phase'] };
  const item = { type: 'message', role: 'assistant', id: item_id, ...phase, content: [] };
  const at = { item_id, output_index: index, content_index: 0 };
  yield { type: 'response.output_item.added', output_index: index, item };
  yield { type: 'response.content_part.added', ...at, part: { type: 'output_text', text: '' } };
  for (const delta of chunked(text, event['chunks'])) yield { type: 'response.output_text.delta', ...at, delta };
  if (!whole) return;
  const content = [{ type: 'output_text', text, annotations: [] }];
  yield { type: 'response.output_item.done', output_index: index, item: { ...item, content } };
}

function* reasoning(event: ScriptEvent, n: number, index: number): Generator<Json> {
  const item_id = event['id'] ?? `rs_${n}_${index}`;
  const text = String(event['reasoning']);
  const item = { type: 'reasoning', id: item_id, summary: [] };
  const at = { item_id, output_index: index, summary_index: 0 };
  yield { type: 'response.output_item.added', output_index: index, item };
  yield { type: 'response.reasoning_summary_part.added', ...at };
  for (const delta of chunked(text, event['chunks']))
    yield { type: 'response.reasoning_summary_text.delta', ...at, delta };
  const summary = [{ type: 'summary_text', text }];
  const done = { ...item, summary, encrypted_content: `enc_${n}_${index}` };
  yield { type: 'response.output_item.done', output_index: index, item: done };
}

function* call(event: ScriptEvent, n: number, index: number): Generator<Json> {
  const args = event['args'];
  const text = typeof args === 'string' ? args : JSON.stringify(args ?? {});
  const item = {
    type: 'function_call',
    id: `fc_${n}_${index}`,
    name: event['call'],
    arguments: text,
    call_id: event['id'] ?? `call_${n}_${index}`,
    ...(event['namespace'] === undefined ? {} : { namespace: event['namespace'] }),
  };
  yield { type: 'response.output_item.added', output_index: index, item: { ...item, arguments: '' } };
  if (event['chunks'] !== undefined) {
    const at = { item_id: item.id, output_index: index };
    for (const delta of chunked(text, event['chunks']))
      yield { type: 'response.function_call_arguments.delta', ...at, delta };
  }
  yield { type: 'response.output_item.done', output_index: index, item };
}

function* custom(event: ScriptEvent, n: number, index: number): Generator<Json> {
  const input = String(event['input']);
  const item = {
    type: 'custom_tool_call',
    id: `ctc_${n}_${index}`,
    name: event['custom'],
    input,
    call_id: event['id'] ?? `call_${n}_${index}`,
  };
  yield { type: 'response.output_item.added', output_index: index, item: { ...item, input: '' } };
  if (event['chunks'] !== undefined) {
    const at = { item_id: item.id, output_index: index };
    for (const delta of chunked(input, event['chunks']))
      yield { type: 'response.custom_tool_call_input.delta', ...at, delta };
  }
  yield { type: 'response.output_item.done', output_index: index, item };
}

/** A text in so many pieces of equal length. */
export function* chunked(text: string, chunks: unknown): Generator<string> {
  const count = typeof chunks === 'number' && chunks >= 1 ? chunks : 1;
  const size = Math.max(1, Math.ceil(text.length / count));
  for (let i = 0; i < text.length; i += size) yield text.slice(i, i + size);
}

/** Script events as the chunks a Chat Completions server would send. One instance per response. */
import type { Json } from './json.js';
import { numberOr, objectOf } from './json.js';
import { type ScriptEvent, wordOf } from './script.js';
import { chunked, SCRIPT_USAGE } from './script-events.js';

export class ChatScript {
  readonly #n: number;
  #calls = 0;

  /** `n` numbers the response, from 0. */
  constructor(n: number) {
    this.#n = n;
  }

  /** Payloads for `data:` lines. */
  *payloads(event: ScriptEvent): Generator<string> {
    const word = wordOf(event);
    switch (word) {
      case 'text':
      case 'open_text':
        for (const content of chunked(String(event[word]), event['chunks'])) yield this.#delta({ content });
        return;
      case 'reasoning':
        for (const piece of chunked(String(event['reasoning']), event['chunks']))
          yield this.#delta({ reasoning_content: piece });
        return;
      case 'call':
        return yield* this.#call(event, String(event['call']), event['args']);
      case 'custom':
        return yield* this.#call(event, String(event['custom']), { input: event['input'] });
      case 'done':
        yield this.#finish(this.#calls > 0 ? 'tool_calls' : 'stop');
        yield JSON.stringify({ id: `chatcmpl_${this.#n}`, choices: [], usage: chatUsage(event['usage']) });
        return yield '[DONE]';
      case 'incomplete':
        yield this.#finish(event['incomplete'] === 'content_filter' ? 'content_filter' : 'length');
        return yield '[DONE]';
      case 'failed':
        return yield JSON.stringify({ error: event['failed'] });
      default:
        yield JSON.stringify(event['raw']);
    }
  }

  *#call(event: ScriptEvent, name: string, args: unknown): Generator<string> {
    const index = this.#calls++;
    const id = event['id'] ?? `call_${this.#n}_${index}`;
    const text = typeof args === 'string' ? args : JSON.stringify(args ?? {});
    yield this.#delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] });
    for (const piece of chunked(text, event['chunks'])) {
      yield this.#delta({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
  }

  #delta(delta: Json): string {
    return JSON.stringify({ id: `chatcmpl_${this.#n}`, choices: [{ index: 0, delta, finish_reason: null }] });
  }

  #finish(finish_reason: string): string {
    return JSON.stringify({ id: `chatcmpl_${this.#n}`, choices: [{ index: 0, delta: {}, finish_reason }] });
  }
}

function chatUsage(value: unknown): object {
  const total = typeof value === 'number' ? value : undefined;
  const usage = { ...SCRIPT_USAGE, ...objectOf(value) };
  const output = numberOr(usage.output_tokens, 0);
  return {
    prompt_tokens: total === undefined ? usage.input_tokens : total - output,
    prompt_tokens_details: usage.input_tokens_details,
    completion_tokens: output,
    completion_tokens_details: usage.output_tokens_details,
    total_tokens: total ?? usage.total_tokens,
  };
}

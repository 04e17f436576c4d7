/**
 * Chat Completions chunks → model events. Items get ids of ours, since the wire has none. A call is complete when the next
 * one begins or the choice finishes; the response is complete at `[DONE]` or the end of the body after a finish reason.
 */
import type { Ids } from '../lib/index.js';
import type { ModelFailure, Usage } from '../protocol/index.js';
import type { EventBuffer } from './event-buffer.js';
import { httpFailure, type ProviderFacts, streamFailure } from './failure.js';
import { arrayOf, type Json, numberOr, objectOf, parseObject, stringOr } from './json.js';
import type { WireDecoder } from './sampling.js';
import { type Split, ThinkTags } from './think-tags.js';

interface OpenText {
  readonly id: string;
  text: string;
}

interface OpenCall {
  readonly itemId: string;
  readonly index: number | undefined;
  callId: string;
  name: string;
  /** Pieces of the arguments. */
  readonly pieces: string[];
  announced: boolean;
}

export class ChatDecoder implements WireDecoder {
  readonly #out: EventBuffer;
  readonly #deps: { readonly ids: Ids; readonly provider: ProviderFacts; readonly model: string };
  readonly #tags = new ThinkTags();
  #message: OpenText | undefined;
  #reasoning: OpenText | undefined;
  readonly #calls: OpenCall[] = [];
  #finish = '';
  #usage: Usage | undefined;
  #responseId: string | undefined;

  constructor(out: EventBuffer, deps: { ids: Ids; provider: ProviderFacts; model: string }) {
    this.#out = out;
    this.#deps = deps;
  }

  payload(data: string): void {
    if (data === '[DONE]') {
      this.#finishWith(this.#finish || 'stop');
      this.#conclude();
      return;
    }
    const chunk = parseObject(data);
    if (!chunk) return;
    const error = this.#errorOf(chunk);
    if (error) {
      this.#out.push({ type: 'failed', error });
      return;
    }
    if (typeof chunk['id'] === 'string') this.#responseId = chunk['id'];
    this.#usage = decodeUsage(chunk['usage']) ?? this.#usage;
    const choice = objectOf(arrayOf(chunk['choices'])[0]);
    // A server that does not stream puts the whole message here.
    this.#delta(objectOf(choice['delta'] ?? choice['message']));
    const finish = choice['finish_reason'];
    if (typeof finish === 'string' && finish !== '') this.#finishWith(finish);
  }

  end(): void {
    // Without a finish reason the body was cut: what is open stays unfinished.
    if (this.#finish !== '') this.#conclude();
  }

  #delta(delta: Json): void {
    const thought = stringOr(delta['reasoning_content'], stringOr(delta['reasoning'], ''));
    if (thought !== '') this.#think(thought);
    const text = textOf(delta['content']) || stringOr(delta['refusal'], '');
    if (text !== '') this.#take(this.#tags.push(text));
    for (const piece of arrayOf(delta['tool_calls'])) this.#callPiece(objectOf(piece));
  }

  #take({ thought, text }: Split): void {
    if (thought !== '') this.#think(thought);
    if (text !== '') this.#say(text);
  }

  #think(text: string): void {
    if (!this.#reasoning) {
      this.#reasoning = { id: this.#deps.ids.next('rs'), text: '' };
      this.#out.push({ type: 'itemStarted', itemId: this.#reasoning.id, itemType: 'reasoning' });
    }
    this.#reasoning.text += text;
    this.#out.push({ type: 'reasoning', itemId: this.#reasoning.id, part: 0, text, raw: true });
  }

  #say(text: string): void {
    this.#closeReasoning();
    if (!this.#message) {
      // Some models send blank lines around their calls; those are no message.
      if (text.trim() === '') return;
      this.#message = { id: this.#deps.ids.next('msg'), text: '' };
      this.#out.push({ type: 'itemStarted', itemId: this.#message.id, itemType: 'agentMessage' });
    }
    this.#message.text += text;
    this.#out.text(this.#message.id, text);
  }

  #callPiece(piece: Json): void {
    const details = objectOf(piece['function'] ?? piece);
    const name = stringOr(details['name'], '');
    const call = this.#callFor(piece, name);
    if (call.callId === '') call.callId = stringOr(piece['id'], '');
    if (call.name === '') call.name = name;
    if (!call.announced && call.name !== '') {
      call.announced = true;
      this.#out.push({ type: 'itemStarted', itemId: call.itemId, itemType: 'toolCall', tool: call.name });
    }
    const args = details['arguments'];
    const text = typeof args === 'string' ? args : args === undefined || args === null ? '' : JSON.stringify(args);
    if (text === '') return;
    call.pieces.push(text);
    this.#out.push({ type: 'arguments', itemId: call.itemId, text });
  }

  /**
   * The call a piece belongs to. The index decides where there is one, except that some servers number all parallel calls
   * alike: a new id together with a name is a new call. A piece without index continues the last call.
   */
  #callFor(piece: Json, name: string): OpenCall {
    const index = typeof piece['index'] === 'number' ? piece['index'] : undefined;
    const id = stringOr(piece['id'], '');
    const last = this.#calls.at(-1);
    const known = index === undefined ? last : this.#calls.findLast((call) => call.index === index);
    const isNew = name !== '' && known !== undefined && known.name !== '' && beginsAnew(known, id, name, index);
    if (known && !isNew) return known;
    this.#take(this.#tags.end());
    this.#closeReasoning();
    this.#closeMessage();
    // Calls come one after the other; the earlier ones are complete and may start.
    this.#closeCalls();
    const call = { itemId: this.#deps.ids.next('fc'), index, callId: '', name: '', pieces: [], announced: false };
    this.#calls.push(call);
    return call;
  }

  #closeReasoning(): void {
    if (!this.#reasoning) return;
    const { id, text } = this.#reasoning;
    this.#out.push({ type: 'item', item: { type: 'reasoning', id, summary: [], text } });
    this.#reasoning = undefined;
  }

  #closeMessage(): void {
    if (!this.#message) return;
    const { id, text } = this.#message;
    this.#out.push({ type: 'item', item: { type: 'agentMessage', id, text } });
    this.#message = undefined;
  }

  #closeCalls(): void {
    for (const call of this.#calls.splice(0)) {
      if (call.name === '') continue;
      this.#out.push({
        type: 'item',
        item: {
          type: 'toolCall',
          id: call.itemId,
          callId: call.callId || this.#deps.ids.next('call'),
          tool: call.name,
          payload: { kind: 'function', arguments: call.pieces.join('') || '{}' },
        },
      });
    }
  }

  #finishWith(reason: string): void {
    if (this.#finish !== '') return;
    this.#finish = reason;
    this.#take(this.#tags.end());
    this.#closeReasoning();
    this.#closeMessage();
    // A call cut by the output limit is not complete: running it would run something else.
    if (reason === 'length' || reason === 'content_filter') this.#calls.length = 0;
    this.#closeCalls();
  }

  #conclude(): void {
    const usage = this.#usage ? { usage: this.#usage } : {};
    switch (this.#finish) {
      case 'length':
        this.#out.push({ type: 'incomplete', reason: 'max_output_tokens', ...usage });
        break;
      case 'content_filter':
        this.#out.push({ type: 'incomplete', reason: 'content_filter', ...usage });
        break;
      default: {
        const id = this.#responseId;
        this.#out.push({ type: 'completed', ...usage, ...(id === undefined ? {} : { responseId: id }) });
      }
    }
  }

  /** `{"error":…}` in the stream, vLLM's `{"object":"error"}`, or an error inside the choice. */
  #errorOf(chunk: Json): ModelFailure | undefined {
    const inChoice = objectOf(arrayOf(chunk['choices'])[0])['error'];
    const error = chunk['error'] ?? inChoice ?? (chunk['object'] === 'error' ? chunk : undefined);
    if (error === undefined || error === null) return undefined;
    const { provider, model } = this.#deps;
    const facts = typeof error === 'string' ? { message: error } : objectOf(error);
    const status = facts['code'];
    if (typeof status === 'number' && status >= 400 && status < 500) {
      return httpFailure(provider, model, { status, body: JSON.stringify({ error: facts }) }, 0);
    }
    return streamFailure(
      provider,
      model,
      stringOr(status, stringOr(facts['type'], '')),
      stringOr(facts['message'], ''),
    );
  }
}

function beginsAnew(known: OpenCall, id: string, name: string, index: number | undefined): boolean {
  if (id !== '') return known.callId !== '' && id !== known.callId;
  // Without index and id, a second name is a second call; with an index it is a repetition.
  return index === undefined && (name !== known.name || isCompleteJson(known.pieces.join('')));
}

function isCompleteJson(text: string): boolean {
  return text.trim() !== '' && parseObject(text) !== undefined;
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return arrayOf(content)
    .map((part) => stringOr(objectOf(part)['text'], ''))
    .join('');
}

function decodeUsage(value: unknown): Usage | undefined {
  const usage = objectOf(value);
  if (typeof usage['prompt_tokens'] !== 'number') return undefined;
  const prompt = objectOf(usage['prompt_tokens_details']);
  const inputTokens = usage['prompt_tokens'];
  const outputTokens = numberOr(usage['completion_tokens'], 0);
  return {
    inputTokens,
    cachedInputTokens: numberOr(prompt['cached_tokens'], numberOr(usage['prompt_cache_hit_tokens'], 0)),
    cacheWriteInputTokens: numberOr(prompt['cache_write_tokens'], 0),
    outputTokens,
    reasoningOutputTokens: numberOr(objectOf(usage['completion_tokens_details'])['reasoning_tokens'], 0),
    totalTokens: numberOr(usage['total_tokens'], inputTokens + outputTokens),
  };
}

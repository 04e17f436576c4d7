/**
 * Responses events → model events. Payloads that carry nothing new are told by their first bytes and never parsed; a
 * text delta in the usual form is cut out of its payload without JSON. Everything else is parsed, and whatever does not
 * parse or is not known is skipped.
 */
import type { Ids } from '../lib/index.js';
import type { Usage } from '../protocol/index.js';
import type { EventBuffer } from './event-buffer.js';
import { type ProviderFacts, streamFailure } from './failure.js';
import { arrayOf, type Json, numberOr, objectOf, parseObject, stringOr } from './json.js';
import type { ModelItem } from './port.js';
import type { WireDecoder } from './sampling.js';

const TYPE_START = '{"type":"';
const TEXT_DELTA_START = '{"type":"response.output_text.delta"';
const ITEM_ID_KEY = '"item_id":"';
const DELTA_KEY = '"delta":"';

/** Events whose content comes (or came) in another event too. */
const REPEATS = new Set([
  'response.created',
  'response.in_progress',
  'response.queued',
  'response.content_part.added',
  'response.content_part.done',
  'response.output_text.done',
  'response.function_call_arguments.done',
  'response.custom_tool_call_input.done',
  'response.reasoning_text.done',
  'response.reasoning_summary_text.done',
  'response.reasoning_summary_part.added',
  'response.reasoning_summary_part.done',
  'response.refusal.done',
]);

export class ResponsesDecoder implements WireDecoder {
  readonly #out: EventBuffer;
  readonly #ids: Ids;
  readonly #provider: ProviderFacts;
  readonly #model: string;
  /** Ids made up for items that came without one, by output index. */
  readonly #madeUpIds = new Map<number, string>();
  #lastTextItem = '';
  #itemsDone = 0;

  constructor(out: EventBuffer, deps: { ids: Ids; provider: ProviderFacts; model: string }) {
    this.#out = out;
    this.#ids = deps.ids;
    this.#provider = deps.provider;
    this.#model = deps.model;
  }

  payload(data: string): void {
    if (data.startsWith(TEXT_DELTA_START) && this.#takePlainText(data)) return;
    if (data.startsWith(TYPE_START)) {
      const type = data.slice(TYPE_START.length, data.indexOf('"', TYPE_START.length));
      if (REPEATS.has(type)) return;
    }
    const event = parseObject(data);
    if (event?.['type'] !== undefined) this.event(event);
    else if (event) this.#whole(event);
  }

  end(): void {
    // Nothing to add: a body that ended without a last word was cut, and the caller sees that.
  }

  /** One event as an object: what a provider inside the process produces. */
  event(event: Json): void {
    switch (event['type']) {
      case 'response.output_item.added':
        this.#started(objectOf(event['item']), event);
        break;
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        this.#out.text(this.#idOf(event), stringOr(event['delta'], ''));
        break;
      case 'response.reasoning_summary_text.delta':
        this.#reasoning(event, numberOr(event['summary_index'], 0), false);
        break;
      case 'response.reasoning_text.delta':
        this.#reasoning(event, numberOr(event['content_index'], 0), true);
        break;
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        this.#out.push({ type: 'arguments', itemId: this.#idOf(event), text: stringOr(event['delta'], '') });
        break;
      case 'response.output_item.done':
        this.#done(objectOf(event['item']), event);
        break;
      case 'response.completed':
      case 'response.done':
        this.#completed(objectOf(event['response']));
        break;
      case 'response.incomplete':
        this.#incomplete(objectOf(event['response']));
        break;
      case 'response.failed':
        this.#failed(objectOf(objectOf(event['response'])['error']));
        break;
      case 'error':
        this.#failed('error' in event ? objectOf(event['error']) : event);
        break;
      default:
        break;
    }
  }

  /**
   * The usual text delta: one flat object. A brace after the first would be a nested object or part of the text, a
   * backslash an escape; both are left to JSON. Inside a flat object an unescaped `"delta":"` can only be the key.
   */
  #takePlainText(data: string): boolean {
    const keyAt = data.indexOf(DELTA_KEY, TEXT_DELTA_START.length);
    if (keyAt < 0 || data.indexOf('{', 1) >= 0) return false;
    const from = keyAt + DELTA_KEY.length;
    const text = data.slice(from, data.indexOf('"', from));
    if (text.includes('\\')) return false;
    const idAt = data.indexOf(ITEM_ID_KEY, TEXT_DELTA_START.length) + ITEM_ID_KEY.length;
    if (idAt < ITEM_ID_KEY.length) return false;
    const last = this.#lastTextItem;
    if (last === '' || !data.startsWith(last, idAt) || data.charCodeAt(idAt + last.length) !== 34) {
      this.#lastTextItem = data.slice(idAt, data.indexOf('"', idAt));
      if (this.#lastTextItem.includes('\\')) return false;
    }
    this.#out.text(this.#lastTextItem, text);
    return true;
  }

  #idOf(event: Json): string {
    return stringOr(event['item_id'], this.#madeUpIds.get(numberOr(event['output_index'], 0)) ?? '');
  }

  /** The item's own id, else one made up the first time and kept for its later events. */
  #itemId(item: Json, event: Json, kind: 'msg' | 'rs' | 'fc' | 'ctc'): string {
    if (typeof item['id'] === 'string' && item['id'] !== '') return item['id'];
    const index = numberOr(event['output_index'], 0);
    const known = this.#madeUpIds.get(index);
    if (known !== undefined) return known;
    const made = this.#ids.next(kind);
    this.#madeUpIds.set(index, made);
    return made;
  }

  #started(item: Json, event: Json): void {
    const itemType = STARTED_TYPES.get(String(item['type']));
    if (!itemType) return;
    this.#out.push({
      type: 'itemStarted',
      itemId: this.#itemId(item, event, ID_KINDS.get(String(item['type'])) ?? 'msg'),
      itemType,
      ...(itemType === 'toolCall' ? { tool: stringOr(item['name'], '') } : {}),
    });
  }

  #reasoning(event: Json, part: number, raw: boolean): void {
    const text = stringOr(event['delta'], '');
    this.#out.push({ type: 'reasoning', itemId: this.#idOf(event), part, text, ...(raw ? { raw: true } : {}) });
  }

  #done(item: Json, event: Json): void {
    this.#itemsDone++;
    const id = this.#itemId(item, event, ID_KINDS.get(String(item['type'])) ?? 'msg');
    const decoded = decodeItem(item, id);
    // A call cut by the output limit is not complete: running it would run something else.
    const isCut = decoded?.type === 'toolCall' && item['status'] === 'incomplete';
    if (decoded && !isCut) this.#out.push({ type: 'item', item: decoded });
    this.#madeUpIds.delete(numberOr(event['output_index'], 0));
  }

  /** A body that is not a stream: the finished response, or an error. */
  #whole(body: Json): void {
    const error = objectOf(body['error']);
    if (error['message'] !== undefined || body['status'] === 'failed') this.#failed(error);
    else if (body['status'] === 'incomplete') this.#incomplete(body);
    else if (Array.isArray(body['output'])) this.#completed(body);
  }

  #completed(response: Json): void {
    this.#takeUnstreamed(response);
    const usage = decodeUsage(response['usage']);
    const endTurn = response['end_turn'];
    const id = response['id'];
    this.#out.push({
      type: 'completed',
      ...(typeof endTurn === 'boolean' ? { endTurn } : {}),
      ...(usage ? { usage } : {}),
      ...(typeof id === 'string' ? { responseId: id } : {}),
    });
  }

  /** Servers that do not stream items put them all into the response. */
  #takeUnstreamed(response: Json): void {
    if (this.#itemsDone > 0) return;
    for (const [output_index, item] of arrayOf(response['output']).entries()) {
      this.#done(objectOf(item), { output_index });
    }
  }

  #incomplete(response: Json): void {
    this.#takeUnstreamed(response);
    const usage = decodeUsage(response['usage']);
    const reason = stringOr(objectOf(response['incomplete_details'])['reason'], 'unknown');
    this.#out.push({ type: 'incomplete', reason, ...(usage ? { usage } : {}) });
  }

  #failed(error: Json): void {
    const code = stringOr(error['code'], stringOr(error['type'], ''));
    const message = stringOr(error['message'], '');
    this.#out.push({ type: 'failed', error: streamFailure(this.#provider, this.#model, code, message) });
  }
}

const STARTED_TYPES: ReadonlyMap<string, 'agentMessage' | 'reasoning' | 'toolCall'> = new Map([
  ['message', 'agentMessage'],
  ['reasoning', 'reasoning'],
  ['function_call', 'toolCall'],
  ['custom_tool_call', 'toolCall'],
]);

const ID_KINDS: ReadonlyMap<string, 'msg' | 'rs' | 'fc' | 'ctc'> = new Map([
  ['message', 'msg'],
  ['reasoning', 'rs'],
  ['function_call', 'fc'],
  ['custom_tool_call', 'ctc'],
]);

function decodeItem(item: Json, id: string): ModelItem | undefined {
  const type = stringOr(item['type'], '');
  switch (type) {
    case 'message': {
      const phase = item['phase'];
      const text = textOf(item['content']);
      return { type: 'agentMessage', id, text, ...(typeof phase === 'string' ? { phase } : {}) };
    }
    case 'reasoning':
      return decodeReasoning(item, id);
    case 'function_call': {
      const namespace = item['namespace'];
      return {
        type: 'toolCall',
        id,
        callId: stringOr(item['call_id'], id),
        tool: stringOr(item['name'], ''),
        ...(typeof namespace === 'string' && namespace !== '' ? { namespace } : {}),
        payload: { kind: 'function', arguments: argumentsText(item['arguments']) },
      };
    }
    case 'custom_tool_call':
      return {
        type: 'toolCall',
        id,
        callId: stringOr(item['call_id'], id),
        tool: stringOr(item['name'], ''),
        payload: { kind: 'custom', input: stringOr(item['input'], '') },
      };
    case '':
      return undefined;
    default:
      // A tool the provider ran, or a kind of item newer than this code: kept as it is and sent back.
      return { type: 'hostedCall', id, tool: type.replace(/_call$/, ''), raw: item };
  }
}

function decodeReasoning(item: Json, id: string): ModelItem {
  const encrypted = item['encrypted_content'];
  const text = textOf(item['content']);
  return {
    type: 'reasoning',
    id,
    summary: arrayOf(item['summary']).map((part) => stringOr(objectOf(part)['text'], '')),
    ...(text === '' ? {} : { text }),
    ...(typeof encrypted === 'string' && encrypted !== '' ? { encrypted } : {}),
  };
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return arrayOf(content)
    .map((part) => stringOr(objectOf(part)['text'], stringOr(objectOf(part)['refusal'], '')))
    .join('');
}

/** Some servers send arguments as an object. */
function argumentsText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? {});
}

function decodeUsage(value: unknown): Usage | undefined {
  const usage = objectOf(value);
  if (typeof usage['input_tokens'] !== 'number') return undefined;
  const input = objectOf(usage['input_tokens_details']);
  const inputTokens = usage['input_tokens'];
  const outputTokens = numberOr(usage['output_tokens'], 0);
  return {
    inputTokens,
    cachedInputTokens: numberOr(input['cached_tokens'], 0),
    cacheWriteInputTokens: numberOr(input['cache_write_tokens'], 0),
    outputTokens,
    reasoningOutputTokens: numberOr(objectOf(usage['output_tokens_details'])['reasoning_tokens'], 0),
    totalTokens: numberOr(usage['total_tokens'], inputTokens + outputTokens),
  };
}

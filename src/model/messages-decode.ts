/** Messages events → model events. A block is an item; a call is complete when its block stops. */
import type { Ids } from '../lib/index.js';
import type { Usage } from '../protocol/index.js';
import type { EventBuffer } from './event-buffer.js';
import { type ProviderFacts, streamFailure } from './failure.js';
import { type Json, numberOr, objectOf, parseObject, stringOr } from './json.js';
import { REDACTED_PREFIX, SIGNATURE_PREFIX } from './messages-encode.js';
import type { ModelItem } from './port.js';
import type { WireDecoder } from './sampling.js';

interface Block {
  readonly type: 'text' | 'thinking' | 'redacted_thinking' | 'tool_use';
  readonly id: string;
  readonly start: Json;
  /** Text, thoughts, or the JSON of the arguments. */
  readonly pieces: string[];
  signature: string;
}

export class MessagesDecoder implements WireDecoder {
  readonly #out: EventBuffer;
  readonly #deps: { readonly ids: Ids; readonly provider: ProviderFacts; readonly model: string };
  readonly #blocks = new Map<number, Block>();
  /** Calls whose arguments are no JSON: cut, if the output limit was reached, else the model's mistake. */
  #doubtful: ModelItem[] = [];
  #usage: Json = {};
  #stopReason = '';
  #responseId: string | undefined;

  constructor(out: EventBuffer, deps: { ids: Ids; provider: ProviderFacts; model: string }) {
    this.#out = out;
    this.#deps = deps;
  }

  payload(data: string): void {
    const event = parseObject(data);
    if (!event) return;
    const index = numberOr(event['index'], 0);
    switch (event['type']) {
      case 'message_start': {
        const message = objectOf(event['message']);
        this.#usage = objectOf(message['usage']);
        if (typeof message['id'] === 'string') this.#responseId = message['id'];
        break;
      }
      case 'content_block_start':
        this.#start(index, objectOf(event['content_block']));
        break;
      case 'content_block_delta':
        this.#delta(index, objectOf(event['delta']));
        break;
      case 'content_block_stop':
        this.#stop(index);
        break;
      case 'message_delta':
        this.#usage = { ...this.#usage, ...objectOf(event['usage']) };
        this.#stopReason = stringOr(objectOf(event['delta'])['stop_reason'], this.#stopReason);
        break;
      case 'message_stop':
        this.#conclude();
        break;
      case 'error': {
        const error = objectOf(event['error']);
        this.#fail(stringOr(error['type'], ''), stringOr(error['message'], ''));
        break;
      }
      default:
        break;
    }
  }

  end(): void {
    // Some servers leave out `message_stop`; a stop reason is their last word.
    if (this.#stopReason !== '') this.#conclude();
  }

  #start(index: number, start: Json): void {
    const type = start['type'];
    const { ids } = this.#deps;
    switch (type) {
      case 'text':
        this.#open(index, { type, id: ids.next('msg'), start, pieces: [], signature: '' }, 'agentMessage');
        this.#delta(index, { type: 'text_delta', text: start['text'] });
        break;
      case 'thinking':
      case 'redacted_thinking':
        this.#open(index, { type, id: ids.next('rs'), start, pieces: [], signature: '' }, 'reasoning');
        break;
      case 'tool_use':
        this.#open(index, { type, id: ids.next('fc'), start, pieces: [], signature: '' }, 'toolCall');
        break;
      default:
        break; // a block this code does not know; its deltas find nothing to join
    }
  }

  #open(index: number, block: Block, itemType: 'agentMessage' | 'reasoning' | 'toolCall'): void {
    this.#blocks.set(index, block);
    const tool = itemType === 'toolCall' ? { tool: stringOr(block.start['name'], '') } : {};
    this.#out.push({ type: 'itemStarted', itemId: block.id, itemType, ...tool });
  }

  #delta(index: number, delta: Json): void {
    const block = this.#blocks.get(index);
    if (!block) return;
    switch (delta['type']) {
      case 'text_delta': {
        const text = stringOr(delta['text'], '');
        if (text === '') return;
        block.pieces.push(text);
        this.#out.text(block.id, text);
        break;
      }
      case 'thinking_delta': {
        const text = stringOr(delta['thinking'], '');
        block.pieces.push(text);
        this.#out.push({ type: 'reasoning', itemId: block.id, part: 0, text, raw: true });
        break;
      }
      case 'signature_delta':
        block.signature += stringOr(delta['signature'], '');
        break;
      case 'input_json_delta': {
        const text = stringOr(delta['partial_json'], '');
        if (text === '') return;
        block.pieces.push(text);
        this.#out.push({ type: 'arguments', itemId: block.id, text });
        break;
      }
      default:
        break;
    }
  }

  #stop(index: number): void {
    const block = this.#blocks.get(index);
    if (!block) return;
    this.#blocks.delete(index);
    const item = itemOf(block, this.#deps.ids);
    const isBroken =
      item.type === 'toolCall' && item.payload.kind === 'function' && !parseObject(item.payload.arguments);
    if (isBroken) this.#doubtful.push(item);
    else this.#out.push({ type: 'item', item });
  }

  #conclude(): void {
    if (this.#stopReason !== 'max_tokens') {
      for (const item of this.#doubtful.splice(0)) this.#out.push({ type: 'item', item });
    }
    const usage = { usage: decodeUsage(this.#usage) };
    switch (this.#stopReason) {
      case 'max_tokens':
        this.#out.push({ type: 'incomplete', reason: 'max_output_tokens', ...usage });
        break;
      case 'refusal':
        this.#fail('content_policy_violation', 'the model declined to answer');
        break;
      case 'model_context_window_exceeded':
        this.#fail('context_length_exceeded', '');
        break;
      default:
        this.#out.push({
          type: 'completed',
          ...usage,
          // The provider paused a long turn and wants to be asked again.
          ...(this.#stopReason === 'pause_turn' ? { endTurn: false } : {}),
          ...(this.#responseId === undefined ? {} : { responseId: this.#responseId }),
        });
    }
  }

  #fail(code: string, message: string): void {
    const { provider, model } = this.#deps;
    this.#out.push({ type: 'failed', error: streamFailure(provider, model, code, message) });
  }
}

function itemOf(block: Block, ids: Ids): ModelItem {
  const text = block.pieces.join('');
  const { id, start } = block;
  switch (block.type) {
    case 'text':
      return { type: 'agentMessage', id, text };
    case 'thinking': {
      const signature = block.signature || stringOr(start['signature'], '');
      return {
        type: 'reasoning',
        id,
        summary: [],
        text: stringOr(start['thinking'], '') + text,
        ...(signature === '' ? {} : { encrypted: SIGNATURE_PREFIX + signature }),
      };
    }
    case 'redacted_thinking':
      return { type: 'reasoning', id, summary: [], encrypted: REDACTED_PREFIX + stringOr(start['data'], '') };
    case 'tool_use': {
      // A server that does not stream arguments puts them into the start of the block.
      const given = Object.keys(objectOf(start['input'])).length > 0 ? JSON.stringify(start['input']) : '{}';
      return {
        type: 'toolCall',
        id,
        callId: stringOr(start['id'], '') || ids.next('call'),
        tool: stringOr(start['name'], ''),
        payload: { kind: 'function', arguments: text === '' ? given : text },
      };
    }
  }
}

/** This wire counts cached tokens beside the others; ours are part of the input. */
function decodeUsage(usage: Json): Usage {
  const cachedInputTokens = numberOr(usage['cache_read_input_tokens'], 0);
  const cacheWriteInputTokens = numberOr(usage['cache_creation_input_tokens'], 0);
  const inputTokens = numberOr(usage['input_tokens'], 0) + cachedInputTokens + cacheWriteInputTokens;
  const outputTokens = numberOr(usage['output_tokens'], 0);
  return {
    inputTokens,
    cachedInputTokens,
    cacheWriteInputTokens,
    outputTokens,
    reasoningOutputTokens: 0,
    totalTokens: inputTokens + outputTokens,
  };
}

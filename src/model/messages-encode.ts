/**
 * The body of a Messages request (Anthropic and servers like it). Content travels in blocks; outputs of a round's calls
 * come back in the user message right after it. The last block is marked so that the provider caches everything before.
 */
import { assertNever, type Item, type ItemOf, type ToolCallItem, type ToolOutputItem } from '../protocol/index.js';
import type { ModelTraits } from './catalogue.js';
import { BodyBuilder, EncoderCache } from './encoder-cache.js';
import type { LocalImages } from './images.js';
import { type Json, parseObject } from './json.js';
import type { ModelRequest, ToolSpec } from './port.js';
import { functionArguments, historyUnits, type Unit, UnitCache } from './units.js';
import { outputParts, type Part, userParts } from './user-content.js';

/** How this wire's sealed thoughts are told from other providers' in `encrypted`. */
export const SIGNATURE_PREFIX = 'signature:';
export const REDACTED_PREFIX = 'redacted:';

/** The wire demands a limit. */
const DEFAULT_MAX_TOKENS = 32_000;
const CACHE_MARK = { cache_control: { type: 'ephemeral' } };

/** Tokens for thinking, by effort; other words mean none. */
const THINKING_BUDGET: Readonly<Record<string, number>> = { low: 4_000, medium: 10_000, high: 20_000, xhigh: 28_000 };

interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: readonly Json[];
}

export class MessagesEncoder {
  readonly #images: LocalImages;
  readonly #units = new UnitCache();
  readonly #tools = new EncoderCache<ToolSpec>((spec) => JSON.stringify(encodeTool(spec)));

  constructor(images: LocalImages) {
    this.#images = images;
  }

  encode(request: ModelRequest, traits: ModelTraits): Buffer {
    const units = historyUnits(request.input);
    const head = units[0]?.kind === 'head' ? units.shift() : undefined;
    const last = units.pop();
    const messages = units.map((unit) => this.#units.get(unit, (one) => this.#text(one, traits.images, false)));
    // The mark moves with the end of history, so the last unit is written anew each time.
    if (last) messages.push(Buffer.from(this.#text(last, traits.images, true)));
    const tools = request.tools.filter((spec) => spec.kind.type !== 'hosted').map((spec) => this.#tools.get(spec));
    const body = new BodyBuilder()
      .text(`{"model":${JSON.stringify(request.model)},"stream":true,"messages":[`)
      .list(messages.filter((bytes) => bytes.length > 0))
      .text(']');
    if (tools.length > 0) body.text(',"tools":[').list(tools).text('],"tool_choice":{"type":"auto"}');
    return body.text(`,${JSON.stringify(settings(request, head)).slice(1)}`).build();
  }

  #text(unit: Unit, images: boolean, mark: boolean): string {
    const messages = this.#messages(unit, images);
    const last = messages.at(-1);
    if (mark && last) messages[messages.length - 1] = { ...last, content: marked(last.content) };
    return messages.map((message) => JSON.stringify(message)).join(',');
  }

  #messages(unit: Unit, images: boolean): Message[] {
    switch (unit.kind) {
      case 'head':
        return [];
      case 'message':
        return [{ role: 'user', content: this.#blocks(unit.item, images) }];
      case 'round': {
        const said = unit.items.flatMap(assistantBlocks);
        const answers = unit.answers.map(([call, output]) => toolResult(call, output, images));
        const after = unit.after.flatMap((item) => this.#blocks(item, images));
        const replies: Message[] =
          answers.length + after.length > 0 ? [{ role: 'user', content: [...answers, ...after] }] : [];
        return said.length === 0 ? replies : [{ role: 'assistant', content: said }, ...replies];
      }
      default:
        return assertNever(unit);
    }
  }

  #blocks(item: ItemOf<'context'> | ItemOf<'userMessage'> | ToolOutputItem, images: boolean): Json[] {
    switch (item.type) {
      case 'context':
        return [text(item.role === 'user' ? item.text : `<system_message>\n${item.text}\n</system_message>`)];
      case 'userMessage':
        return userParts(item.content, this.#images, images).map(block);
      case 'toolOutput': {
        const parts = outputParts(item, images);
        return typeof parts === 'string' ? [text(parts)] : parts.map(block);
      }
      default:
        return assertNever(item);
    }
  }
}

function settings(request: ModelRequest, head: Unit | undefined): object {
  const system = head?.kind === 'head' ? head.items.map((item) => item.text).join('\n\n') : '';
  const budget_tokens = THINKING_BUDGET[request.reasoningEffort ?? ''];
  return {
    ...(system === '' ? {} : { system: [{ type: 'text', text: system, ...CACHE_MARK }] }),
    ...(budget_tokens === undefined ? {} : { thinking: { type: 'enabled', budget_tokens } }),
    max_tokens: DEFAULT_MAX_TOKENS,
  };
}

function encodeTool({ name, description, kind }: ToolSpec): object {
  const input_schema = kind.type === 'function' ? kind.parameters : kind.type === 'custom' ? kind.fallback : {};
  return { name, description, input_schema };
}

function assistantBlocks(item: Extract<Item, { type: 'agentMessage' | 'reasoning' | 'toolCall' }>): Json[] {
  switch (item.type) {
    case 'agentMessage':
      return item.text === '' ? [] : [text(item.text)];
    case 'reasoning': {
      const sealed = item.encrypted ?? '';
      if (sealed.startsWith(REDACTED_PREFIX)) {
        return [{ type: 'redacted_thinking', data: sealed.slice(REDACTED_PREFIX.length) }];
      }
      if (!sealed.startsWith(SIGNATURE_PREFIX)) return []; // unsigned thoughts are refused
      return [{ type: 'thinking', thinking: item.text ?? '', signature: sealed.slice(SIGNATURE_PREFIX.length) }];
    }
    case 'toolCall': {
      const name = item.namespace === undefined ? item.tool : `${item.namespace}__${item.tool}`;
      const input = parseObject(functionArguments(item.payload)) ?? {};
      return [{ type: 'tool_use', id: item.callId, name, input }];
    }
    default:
      return assertNever(item);
  }
}

function toolResult(call: ToolCallItem, output: ToolOutputItem | undefined, images: boolean): Json {
  const parts = output === undefined ? 'no output was recorded' : outputParts(output, images);
  const kind = output?.outcome.kind;
  return {
    type: 'tool_result',
    tool_use_id: call.callId,
    content: typeof parts === 'string' ? parts : parts.map(block),
    ...(kind === 'rejected' || kind === 'aborted' ? { is_error: true } : {}),
  };
}

function text(words: string): Json {
  // Empty text blocks are refused.
  return { type: 'text', text: words === '' ? '(empty)' : words };
}

function block(part: Part): Json {
  if (part.kind === 'text') return text(part.text);
  const data = /^data:([\w/+.-]+);base64,(.*)$/s.exec(part.url);
  const source = data ? { type: 'base64', media_type: data[1], data: data[2] } : { type: 'url', url: part.url };
  return { type: 'image', source };
}

function marked(content: readonly Json[]): readonly Json[] {
  const last = content.at(-1);
  if (last === undefined || last['type'] === 'thinking' || last['type'] === 'redacted_thinking') return content;
  return [...content.slice(0, -1), { ...last, ...CACHE_MARK }];
}

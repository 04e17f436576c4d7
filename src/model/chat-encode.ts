/**
 * The body of a Chat Completions request. That wire wants an assistant message with all its tool calls, then at once one
 * tool message per call, and only then anything else, so history is cut into units first: a run of leading developer
 * messages, one model round with its outputs, or a single message. A unit is serialised once and kept.
 */
import { assertNever, type ItemOf, type ToolCallItem, type ToolOutputItem } from '../protocol/index.js';
import type { ModelTraits } from './catalogue.js';
import { BodyBuilder, EncoderCache } from './encoder-cache.js';
import type { LocalImages } from './images.js';
import type { ModelRequest, ToolSpec } from './port.js';
import { functionArguments, historyUnits, type Unit, UnitCache } from './units.js';
import { outputParts, type Part, userParts } from './user-content.js';

export interface ChatOptions {
  /** The provider takes system messages anywhere. Chat templates of local models often allow only the first. */
  readonly systemAnywhere: boolean;
}

export class ChatEncoder {
  readonly #options: ChatOptions;
  readonly #images: LocalImages;
  readonly #withImages = new UnitCache();
  readonly #withoutImages = new UnitCache();
  readonly #tools = new EncoderCache<ToolSpec>((spec) => JSON.stringify(encodeTool(spec)));

  constructor(images: LocalImages, options: ChatOptions) {
    this.#images = images;
    this.#options = options;
  }

  encode(request: ModelRequest, traits: ModelTraits): Buffer {
    const cache = traits.images ? this.#withImages : this.#withoutImages;
    const encode = (unit: Unit) => this.#encodeUnit(unit, traits.images);
    const messages = historyUnits(request.input)
      .map((unit) => cache.get(unit, encode))
      .filter((bytes) => bytes.length > 0);
    const tools = request.tools.filter((spec) => spec.kind.type !== 'hosted').map((spec) => this.#tools.get(spec));
    const body = new BodyBuilder()
      .text(
        `{"model":${JSON.stringify(request.model)},"stream":true,"stream_options":{"include_usage":true},"messages":[`,
      )
      .list(messages);
    if (tools.length > 0) body.text('],"tools":[').list(tools);
    return body.text(`]${tail(request, traits, tools.length > 0)}}`).build();
  }

  /** Messages of one unit, joined by commas. */
  #encodeUnit(unit: Unit, images: boolean): string {
    return this.#messages(unit, images)
      .map((message) => JSON.stringify(message))
      .join(',');
  }

  #messages(unit: Unit, images: boolean): object[] {
    switch (unit.kind) {
      case 'head':
        return [{ role: 'system', content: unit.items.map((item) => item.text).join('\n\n') }];
      case 'message':
        return [this.#message(unit.item, images)];
      case 'round':
        return [
          ...assistant(unit.items),
          ...unit.answers.map(([call, output]) => toolMessage(call, output, images)),
          ...unit.answers.flatMap(([call, output]) => outputImages(call, output, images)),
          ...unit.after.map((item) => this.#message(item, images)),
        ];
      default:
        return assertNever(unit);
    }
  }

  #message(item: ItemOf<'context'> | ItemOf<'userMessage'> | ToolOutputItem, images: boolean): object {
    switch (item.type) {
      case 'context':
        if (item.role === 'user') return { role: 'user', content: item.text };
        return this.#options.systemAnywhere
          ? { role: 'system', content: item.text }
          : { role: 'user', content: `<system_message>\n${item.text}\n</system_message>` };
      case 'userMessage':
        return { role: 'user', content: messageContent(userParts(item.content, this.#images, images)) };
      case 'toolOutput': {
        const parts = outputParts(item, images);
        return { role: 'user', content: typeof parts === 'string' ? parts : messageContent(parts) };
      }
      default:
        return assertNever(item);
    }
  }
}

/** Everything after the lists, beginning with a comma if there is anything. */
function tail(request: ModelRequest, traits: ModelTraits, hasTools: boolean): string {
  const effort = request.reasoningEffort ?? traits.defaultEffort;
  const reasons = traits.reasoning || !traits.known;
  const fields = {
    ...(hasTools ? { tool_choice: 'auto' } : {}),
    ...(hasTools && traits.parallelToolCalls ? { parallel_tool_calls: true } : {}),
    ...(reasons && effort ? { reasoning_effort: effort } : {}),
    ...(traits.verbosity && request.verbosity ? { verbosity: request.verbosity } : {}),
    ...(request.outputSchema === undefined
      ? {}
      : {
          response_format: {
            type: 'json_schema',
            json_schema: {
              name: 'turnwright_output_schema',
              strict: request.outputSchemaStrict ?? true,
              schema: request.outputSchema,
            },
          },
        }),
  };
  const text = JSON.stringify(fields).slice(1, -1);
  return text === '' ? '' : `,${text}`;
}

function encodeTool({ name, description, kind }: ToolSpec): object {
  const parameters = kind.type === 'function' ? kind.parameters : kind.type === 'custom' ? kind.fallback : {};
  return { type: 'function', function: { name, description, parameters } };
}

/** The model's side of a round: nothing when it only reasoned. */
function assistant(items: Extract<Unit, { kind: 'round' }>['items']): object[] {
  const text = items.flatMap((item) => (item.type === 'agentMessage' ? [item.text] : [])).join('\n\n');
  const calls = items.filter((item) => item.type === 'toolCall');
  const thought = items.flatMap((item) => (item.type === 'reasoning' ? [item.text ?? ''] : [])).join('');
  if (text === '' && calls.length === 0) return [];
  return [
    {
      role: 'assistant',
      content: text === '' ? null : text,
      // Models that think between calls want their thoughts of this round back.
      ...(thought !== '' && calls.length > 0 ? { reasoning_content: thought } : {}),
      ...(calls.length === 0 ? {} : { tool_calls: calls.map(encodeCall) }),
    },
  ];
}

function encodeCall(call: ToolCallItem): object {
  const name = call.namespace === undefined ? call.tool : `${call.namespace}__${call.tool}`;
  return { id: call.callId, type: 'function', function: { name, arguments: functionArguments(call.payload) } };
}

function toolMessage(call: ToolCallItem, output: ToolOutputItem | undefined, images: boolean): object {
  const parts = output === undefined ? 'no output was recorded' : outputParts(output, images);
  const content =
    typeof parts === 'string'
      ? parts
      : parts.map((part) => (part.kind === 'text' ? part.text : '[image below]')).join('\n');
  return { role: 'tool', tool_call_id: call.callId, content };
}

/** Tool messages hold text only; images follow as a user message. */
function outputImages(call: ToolCallItem, output: ToolOutputItem | undefined, images: boolean): object[] {
  const parts = output === undefined ? '' : outputParts(output, images);
  if (typeof parts === 'string' || !parts.some((part) => part.kind === 'image')) return [];
  const pictures = parts.filter((part) => part.kind === 'image');
  return [
    {
      role: 'user',
      content: messageContent([{ kind: 'text', text: `Images returned by ${call.tool}:` }, ...pictures]),
    },
  ];
}

function messageContent(parts: readonly Part[]): string | object[] {
  const [only] = parts;
  if (parts.length === 1 && only?.kind === 'text') return only.text;
  return parts.map((part) =>
    part.kind === 'text'
      ? { type: 'text', text: part.text }
      : {
          type: 'image_url',
          image_url: { url: part.url, ...(part.detail === undefined ? {} : { detail: part.detail }) },
        },
  );
}

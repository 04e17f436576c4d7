/**
 * The body of a Responses request. Field order is fixed and `input` is a concatenation of pieces serialised once, so a
 * later request of a thread begins with the bytes of the earlier one. There is no `instructions` field: base
 * instructions are the first developer message (Codex 0.171).
 */
import { assertNever, type Item, type ToolOutputItem } from '../protocol/index.js';
import type { ModelTraits } from './catalogue.js';
import { BodyBuilder, EncoderCache } from './encoder-cache.js';
import type { LocalImages } from './images.js';
import type { ModelRequest, ToolSpec } from './port.js';
import { outputParts, type Part, userParts } from './user-content.js';

export class ResponsesEncoder {
  readonly #withImages: EncoderCache<Item>;
  readonly #withoutImages: EncoderCache<Item>;
  readonly #tools = new EncoderCache<ToolSpec>((spec) => JSON.stringify(encodeTool(spec, true)));
  readonly #functionTools = new EncoderCache<ToolSpec>((spec) => JSON.stringify(encodeTool(spec, false)));

  /** Local images must have been prepared before `encode`. */
  constructor(images: LocalImages) {
    this.#withImages = new EncoderCache((item) => JSON.stringify(encodeItem(item, images, true)));
    this.#withoutImages = new EncoderCache((item) => JSON.stringify(encodeItem(item, images, false)));
  }

  encode(request: ModelRequest, traits: ModelTraits): Buffer {
    const items = traits.images ? this.#withImages : this.#withoutImages;
    const tools = traits.customTools ? this.#tools : this.#functionTools;
    return new BodyBuilder()
      .text(`{"model":${JSON.stringify(request.model)},"stream":true,"input":[`)
      .list(pieces(request.input, items))
      .text('],"tools":[')
      .list(request.tools.map((spec) => tools.get(spec)))
      .text(`],${tail(request, traits)}}`)
      .build();
  }
}

function* pieces(input: Iterable<Item>, cache: EncoderCache<Item>): Iterable<Buffer> {
  for (const item of input) yield cache.get(item);
}

/** Everything after the tools, without the outer braces. */
function tail(request: ModelRequest, traits: ModelTraits): string {
  const effort = request.reasoningEffort ?? traits.defaultEffort;
  const summary = request.reasoningSummary === 'none' ? undefined : request.reasoningSummary;
  const verbosity = traits.verbosity ? (request.verbosity ?? traits.defaultVerbosity) : undefined;
  const format = outputFormat(request);
  const reasons = traits.reasoning || !traits.known;
  return JSON.stringify({
    tool_choice: 'auto',
    parallel_tool_calls: traits.parallelToolCalls,
    ...(reasons && (effort || summary)
      ? { reasoning: { ...(effort ? { effort } : {}), ...(summary ? { summary } : {}) } }
      : {}),
    store: false,
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: request.cacheKey,
    ...(verbosity || format ? { text: { ...(verbosity ? { verbosity } : {}), ...(format ? { format } : {}) } } : {}),
    client_metadata: request.metadata,
  }).slice(1, -1);
}

function outputFormat(request: ModelRequest): object | undefined {
  if (request.outputSchema === undefined) return undefined;
  return {
    type: 'json_schema',
    strict: request.outputSchemaStrict ?? true,
    schema: request.outputSchema,
    name: 'turnwright_output_schema',
  };
}

function encodeTool(spec: ToolSpec, customTools: boolean): object {
  const { name, description, kind } = spec;
  switch (kind.type) {
    case 'function':
      return { type: 'function', name, description, strict: false, parameters: kind.parameters };
    case 'custom':
      if (!customTools) return { type: 'function', name, description, strict: false, parameters: kind.fallback };
      return {
        type: 'custom',
        name,
        description,
        format: kind.grammar ? { type: 'grammar', ...kind.grammar } : { type: 'text' },
      };
    case 'hosted':
      return { type: name, ...kind.options };
    default:
      return assertNever(kind);
  }
}

function encodeItem(item: Item, images: LocalImages, imagesAllowed: boolean): object {
  const { id } = item;
  switch (item.type) {
    case 'context':
      return { type: 'message', id, role: item.role, content: [{ type: 'input_text', text: item.text }] };
    case 'userMessage':
      return {
        type: 'message',
        id,
        role: 'user',
        content: userParts(item.content, images, imagesAllowed).map(inputPart),
      };
    case 'agentMessage':
      return {
        type: 'message',
        id,
        role: 'assistant',
        ...(item.phase === undefined ? {} : { phase: item.phase }),
        ...(item.incomplete ? { status: 'incomplete' } : {}),
        content: [{ type: 'output_text', text: item.text }],
      };
    case 'reasoning':
      return {
        type: 'reasoning',
        id,
        summary: item.summary.map((text) => ({ type: 'summary_text', text })),
        // A provider that gave sealed state wants that back, not the text.
        ...(item.text === undefined || item.encrypted !== undefined
          ? {}
          : { content: [{ type: 'reasoning_text', text: item.text }] }),
        ...(item.encrypted === undefined ? {} : { encrypted_content: item.encrypted }),
      };
    case 'toolCall': {
      const { callId: call_id, tool: name, payload } = item;
      if (payload.kind === 'custom') return { type: 'custom_tool_call', id, call_id, name, input: payload.input };
      const namespace = item.namespace === undefined ? {} : { namespace: item.namespace };
      return { type: 'function_call', id, name, ...namespace, arguments: payload.arguments, call_id };
    }
    case 'toolOutput':
      return encodeOutput(item, imagesAllowed);
    case 'hostedCall':
      return item.raw;
    default:
      return assertNever(item);
  }
}

function encodeOutput(item: ToolOutputItem, imagesAllowed: boolean): object {
  const parts = outputParts(item, imagesAllowed);
  return {
    type: item.payloadKind === 'custom' ? 'custom_tool_call_output' : 'function_call_output',
    id: item.id,
    // Codex 0.171: context given by a client travels as an output that answers no call.
    ...(item.callId === '' ? {} : { call_id: item.callId }),
    output: typeof parts === 'string' ? parts : parts.map(inputPart),
  };
}

function inputPart(part: Part): object {
  if (part.kind === 'text') return { type: 'input_text', text: part.text };
  return { type: 'input_image', image_url: part.url, ...(part.detail === undefined ? {} : { detail: part.detail }) };
}

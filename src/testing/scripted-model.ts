/** A model that plays a script: one entry per request, then fails loudly. Small, public, and under the provider contract. */
import { AsyncQueue } from '../lib/index.js';
import type { ModelCapabilities, ModelEvent, ModelProvider, ModelRequest } from '../model/index.js';
import type { Item, Usage } from '../protocol/index.js';

/** What one response brings, in order. A function is awaited before the next part: it can wait for the test. */
export type Part = ModelEvent | (() => Promise<void>);

export interface ScriptedModel extends ModelProvider {
  /** Requests so far, their input as it was then. */
  readonly requests: readonly { readonly input: readonly Item[]; readonly request: ModelRequest }[];
}

export const TEST_USAGE: Usage = {
  inputTokens: 100,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 10,
  reasoningOutputTokens: 0,
  totalTokens: 110,
};

export interface ScriptedModelOptions {
  readonly streamMaxRetries?: number;
  readonly capabilities?: Partial<ModelCapabilities>;
}

export function scriptedModel(script: readonly (readonly Part[])[], options: ScriptedModelOptions = {}): ScriptedModel {
  const requests: { input: readonly Item[]; request: ModelRequest }[] = [];
  return {
    id: 'scripted',
    streamMaxRetries: options.streamMaxRetries ?? 2,
    requests,
    capabilities: () => ({ ...ALL_CAPABILITIES, ...options.capabilities }),
    sample(request, signal) {
      const parts = script[requests.length];
      requests.push({ input: [...request.input], request });
      if (!parts)
        throw new Error(`the script has ${script.length} responses and was asked for number ${requests.length}`);
      return play(parts, signal);
    },
  };
}

const ALL_CAPABILITIES: ModelCapabilities = {
  customTools: true,
  hostedWebSearch: false,
  parallelToolCalls: true,
  reasoning: true,
  images: true,
  outputSchema: true,
  verbosity: true,
  known: true,
};

async function* play(parts: readonly Part[], signal: AbortSignal): AsyncIterable<ModelEvent> {
  const queue = new AsyncQueue<ModelEvent>();
  const stop = () => queue.fail(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  void feed(parts, queue, signal); // its failure ends the queue, which the reader sees
  try {
    yield* queue;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

async function feed(parts: readonly Part[], queue: AsyncQueue<ModelEvent>, signal: AbortSignal): Promise<void> {
  try {
    for (const part of parts) {
      if (signal.aborted) return;
      if (typeof part === 'function') await part();
      else queue.push(part);
    }
    queue.end();
  } catch (error) {
    queue.fail(error);
  }
}

let nextId = 0;

/** A whole message, streamed in one delta. */
export function say(text: string, phase?: string): Part[] {
  const id = `msg_t${nextId++}`;
  return [
    { type: 'itemStarted', itemId: id, itemType: 'agentMessage' },
    { type: 'text', itemId: id, text },
    { type: 'item', item: { type: 'agentMessage', id, text, ...(phase ? { phase } : {}) } },
  ];
}

/** A function call. */
export function call(tool: string, args: unknown, callId = `call_t${nextId}`): Part[] {
  const id = `fc_t${nextId++}`;
  const payload = { kind: 'function', arguments: typeof args === 'string' ? args : JSON.stringify(args) } as const;
  return [{ type: 'item', item: { type: 'toolCall', id, callId, tool, payload } }];
}

/** A freeform call. */
export function custom(tool: string, input: string, callId = `call_t${nextId}`): Part[] {
  return [
    {
      type: 'item',
      item: { type: 'toolCall', id: `ctc_t${nextId++}`, callId, tool, payload: { kind: 'custom', input } },
    },
  ];
}

export function done(endTurn?: boolean, usage: Usage = TEST_USAGE): Part[] {
  return [{ type: 'completed', usage, ...(endTurn === undefined ? {} : { endTurn }) }];
}

/** Joins parts into one response. */
export function response(...parts: readonly (readonly Part[] | Part)[]): readonly Part[] {
  return parts.flat() as readonly Part[];
}

/** What the wire tests of the model share. */
import { type Clock, type Ids, systemClock } from '../../src/lib/index.js';
import {
  createProvider,
  type ModelEvent,
  type ModelProvider,
  type ModelRequest,
  type ProviderConfig,
} from '../../src/model/index.js';
import type { Item } from '../../src/protocol/index.js';

/** Ids that count up: `msg_1`, `fc_2` … */
export function countingIds(): Ids {
  let n = 0;
  return { next: (kind) => `${kind}_${++n}`, chunk: () => `${++n}` };
}

/** A clock whose sleeps end at once and are remembered. */
export function instantClock(): Clock & { readonly slept: number[] } {
  const slept: number[] = [];
  return {
    slept,
    nowMs: () => systemClock.nowMs(),
    sleep: async (ms, signal) => {
      signal.throwIfAborted();
      slept.push(ms);
    },
  };
}

export function provider(
  baseUrl: string,
  config: Partial<ProviderConfig> = {},
  clock: Clock = instantClock(),
): ModelProvider {
  return createProvider(
    { id: 'test', baseUrl, wireApi: 'responses', ...config },
    { env: {}, clock, ids: countingIds(), random: () => 0.5 },
  );
}

export function request(input: readonly Item[], extra: Partial<ModelRequest> = {}): ModelRequest {
  return { model: 'gpt-5.5', input, tools: [], cacheKey: 'thread-1', metadata: { thread_id: 'thread-1' }, ...extra };
}

export function user(text: string, id = 'msg_u'): Item {
  return { type: 'userMessage', id, content: [{ type: 'text', text }] };
}

export async function collect(
  model: ModelProvider,
  asked: ModelRequest = request([user('go')]),
  signal: AbortSignal = new AbortController().signal,
): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model.sample(asked, signal)) events.push(event);
  return events;
}

/**
 * The process dies after every single record of several stories, and is brought back. Whatever the moment: the turn
 * reaches its end, every call has exactly one output, and nothing that was started is started again.
 */
import { describe, expect, test } from 'vitest';
import type { ModelEvent, ModelProvider } from '../../src/model/index.js';
import type { Item, ThreadRecord } from '../../src/protocol/index.js';
import type { EventStore } from '../../src/store/index.js';
import {
  call,
  createMemoryStore,
  done,
  type Part,
  response,
  type ScriptedModel,
  say,
  scriptedModel,
  startTestThread,
  testTool,
  text,
} from '../../src/testing/index.js';

/** Dies once `limit` records are stored: what came before is kept, everything later fails. */
function dyingStore(inner: EventStore, limit: number): EventStore & { readonly stored: number } {
  let stored = 0;
  return {
    get stored() {
      return stored;
    },
    load: (id) => inner.load(id),
    close: (id) => inner.close(id),
    async append(id, afterSeq, records) {
      const fits = records.slice(0, Math.max(0, limit - stored));
      const kept = fits.length > 0 ? await inner.append(id, afterSeq, fits) : [];
      stored += fits.length;
      if (fits.length < records.length) throw new Error('the process died');
      return kept;
    },
  };
}

/** Looks at the conversation instead of counting requests, so it can go on after any crash. */
function reactiveModel(rounds: readonly (readonly string[])[]): ScriptedModel {
  const base = scriptedModel([]);
  const sample: ModelProvider['sample'] = async function* (request) {
    const called = new Set([...request.input].flatMap((item) => (item.type === 'toolCall' ? [item.callId] : [])));
    const round = rounds.find((ids) => ids.some((id) => !called.has(id)));
    const parts: readonly Part[] = round
      ? response(
          say('working on it'),
          ...round.filter((id) => !called.has(id)).map((id) => call('effect', { id }, id)),
          done(),
        )
      : response(say('all done'), done());
    for (const part of parts) yield part as ModelEvent;
  };
  return { ...base, sample };
}

const STORIES: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'text only': [],
  'one call': [['a']],
  'three calls side by side': [['a', 'b', 'c']],
  'rounds of one, two and one': [['a'], ['b', 'c'], ['d']],
};

async function run(
  store: EventStore,
  rounds: readonly (readonly string[])[],
  effects: Map<string, number>,
  resume?: 'close' | 'continue',
) {
  const effect = testTool({
    name: 'effect',
    run: (args) => {
      const id = String(args['id']);
      effects.set(id, (effects.get(id) ?? 0) + 1);
      return { kind: 'ok', text: `did ${id}` };
    },
  });
  return startTestThread({ model: reactiveModel(rounds), tools: [effect], store, ...(resume ? { resume } : {}) });
}

function expectPaired(items: readonly Item[]): void {
  const open: string[] = [];
  for (const item of items) {
    if (item.type === 'toolCall') open.push(item.callId);
    if (item.type === 'toolOutput') expect(open.splice(open.indexOf(item.callId), 1)).toEqual([item.callId]);
  }
  expect(open).toEqual([]);
}

describe.each(Object.entries(STORIES))('%s', (_name, rounds) => {
  async function recordCount(): Promise<number> {
    const { thread, records } = await run(createMemoryStore(), rounds, new Map());
    await thread.submit(text('go'));
    await thread.idle();
    return (await records()).length;
  }

  async function crashAfter(limit: number, effects: Map<string, number>): Promise<EventStore> {
    const inner = createMemoryStore();
    const { thread } = await run(dyingStore(inner, limit), rounds, effects);
    await thread.submit(text('go')).catch(() => {});
    await thread.idle().catch(() => {});
    return inner;
  }

  test('resumed to go on, the turn ends', async () => {
    for (let limit = 4; limit < (await recordCount()); limit++) {
      const effects = new Map<string, number>();
      const store = await crashAfter(limit, effects);
      const { thread, log, records } = await run(store, rounds, effects, 'continue');
      await thread.idle();
      expectPaired(log.state.history.toArray());
      expect([...effects.values()].filter((count) => count > 1)).toEqual([]);
      expect((await records()).filter((record) => record.type === 'turn.ended')).toMatchObject([
        { status: 'completed' },
      ]);
    }
  });

  test('resumed to stop, the turn is closed as interrupted and the next one works', async () => {
    for (let limit = 4; limit < (await recordCount()); limit++) {
      const effects = new Map<string, number>();
      const store = await crashAfter(limit, effects);
      const { thread, log, records } = await run(store, rounds, effects, 'close');
      const ended = (all: readonly ThreadRecord[]) =>
        all.filter((record) => record.type === 'turn.ended').map((record) => record.status);
      expect(ended(await records())).toEqual(['interrupted']);
      await thread.submit(text('what happened?'));
      await thread.idle();
      expectPaired(log.state.history.toArray());
      expect([...effects.values()].filter((count) => count > 1)).toEqual([]);
      expect(ended(await records())).toEqual(['interrupted', 'completed']);
    }
  });

  test('the log alone rebuilds the same state', async () => {
    const store = createMemoryStore();
    const { thread, log } = await run(store, rounds, new Map());
    await thread.submit(text('go'));
    await thread.idle();
    const again = await run(store, rounds, new Map(), 'close');
    expect({ ...again.log.state, history: again.log.state.history.toArray() }).toEqual({
      ...log.state,
      history: log.state.history.toArray(),
    });
  });
});

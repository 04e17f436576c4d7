/** A thread as its stored records tell it: turns with their items, and what a list shows of it. */
import { createJsonlStore } from '../engine/index.js';
import { systemClock } from '../lib/index.js';
import type { Stored, UserInput } from '../protocol/index.js';
import { type Notification, ThreadMapper } from './thread-mapper.js';

export type WireTurn = Readonly<Record<string, unknown>>;

export interface ThreadHistory {
  readonly turns: readonly WireTurn[];
  /** The first input's text, at most 200 characters. */
  readonly preview: string;
  /** Undefined for a thread without records. */
  readonly createdAtMs: number | undefined;
  readonly updatedAtMs: number | undefined;
}

/** Reads a thread's file. Throws `TW_THREAD_UNKNOWN` or `TW_THREAD_CORRUPT`. */
export async function loadHistory(home: string, threadId: string): Promise<ThreadHistory> {
  const records: Stored[] = [];
  for await (const stored of createJsonlStore({ home, clock: systemClock }).load(threadId)) records.push(stored);
  return historyOf(threadId, records);
}

export function historyOf(threadId: string, records: readonly Stored[]): ThreadHistory {
  const mapper = new ThreadMapper(threadId);
  const turns: Turn[] = [];
  let preview: string | undefined;
  for (const stored of records) {
    preview ??= previewOf(stored);
    for (const out of mapper.next({ kind: 'record', stored }))
      if (out.kind === 'notify') collect(turns, out.notification);
  }
  return {
    turns: turns.map(({ facts, items }) => ({ ...facts, items: [...items.values()], itemsView: 'full' })),
    preview: preview ?? '',
    createdAtMs: records[0]?.atMs,
    updatedAtMs: records.at(-1)?.atMs,
  };
}

interface Turn {
  facts: Readonly<Record<string, unknown>>;
  /** By id, in order of their start; the finished form replaces the first. */
  readonly items: Map<string, unknown>;
}

function collect(turns: Turn[], { method, params }: Notification): void {
  const now = turns.at(-1);
  const turn = params['turn'] as Turn['facts'];
  const item = params['item'] as { readonly id: string };
  if (method === 'turn/started') turns.push({ facts: turn, items: new Map() });
  else if (method === 'turn/completed' && now) now.facts = turn;
  else if (method === 'item/started' || method === 'item/completed') now?.items.set(item.id, item);
}

/** The text of a first input; undefined for any other record. */
export function previewOf({ record }: Stored): string | undefined {
  if (record.type !== 'input.accepted' || record.item.type !== 'userMessage') return undefined;
  return textOf(record.item.content);
}

function textOf(content: readonly UserInput[]): string {
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join(' ');
  return text.replace(/\s+/g, ' ').trim().slice(0, 200);
}

/**
 * History as a request needs it: every call directly followed (with its neighbours) by its output, every output with its
 * call. A log of ours always is; one cut by a crash, edited or imported may not be.
 */
import type { Item, ToolCallItem, ToolOutcome, ToolOutputItem } from '../protocol/index.js';

export interface PairedHistory {
  readonly items: readonly Item[];
  /** Calls that got a made-up output. */
  readonly closed: readonly ToolCallItem[];
  /** Outputs without a call, left out. */
  readonly dropped: readonly ToolOutputItem[];
}

/** Outputs pair by position: with the latest earlier call of that id that has none yet. */
export function pairHistory(history: Iterable<Item>, closingText: string): PairedHistory {
  const items = [...history];
  const open = new Map<string, ToolCallItem[]>();
  const dropped: ToolOutputItem[] = [];
  for (const item of items) {
    if (item.type === 'toolCall') open.set(item.callId, [...(open.get(item.callId) ?? []), item]);
    if (item.type === 'toolOutput' && item.callId !== '' && !open.get(item.callId)?.shift()) dropped.push(item);
  }
  const unanswered = new Set([...open.values()].flat());
  if (unanswered.size === 0 && dropped.length === 0) return { items, closed: [], dropped };
  const repaired = items.flatMap((item): Item[] => {
    if (item.type === 'toolOutput' && dropped.includes(item)) return [];
    if (item.type === 'toolCall' && unanswered.has(item))
      return [item, outputItem(item, { kind: 'aborted', text: closingText })];
    return [item];
  });
  return { items: repaired, closed: [...unanswered], dropped };
}

/** The output of a call. Its id comes from the call's, so that every later request holds the same bytes. */
export function outputItem(call: ToolCallItem, outcome: ToolOutcome): ToolOutputItem {
  const prefix = call.payload.kind === 'function' ? 'fco' : 'ctco';
  return {
    type: 'toolOutput',
    id: `${prefix}_${call.id}`,
    callId: call.callId,
    payloadKind: call.payload.kind,
    outcome,
  };
}

/**
 * One sampling: sends the history, records each item the moment it is complete, starts each tool at once, and ends with
 * exactly one `sampling.ended`. A stream that stops without saying so was cut; nothing it completed is lost.
 */
import type { ModelEvent, ModelItem, ModelRequest } from '../model/index.js';
import { planRetry } from '../model/index.js';
import type { ModelFailure, SamplingResult, ToolCallItem } from '../protocol/index.js';
import type { ActiveTurn } from './machine.js';
import type { TurnServices } from './services.js';
import type { ToolCalls } from './tool-calls.js';

/** Below this many words a cut message is not worth keeping. */
const KEEP_CUT_WORDS = 3;

/** Items the stream has begun and not finished, with the text shown so far. */
type Unfinished = Map<string, { itemType: 'agentMessage' | 'reasoning' | 'toolCall'; text: string }>;

type StreamEnd =
  | { kind: 'result'; result: Extract<SamplingResult, { ok: true }> }
  | { kind: 'failure'; error: ModelFailure }
  | { kind: 'cut' };

export async function sample(
  turn: ActiveTurn,
  services: TurnServices,
  calls: ToolCalls,
  signal: AbortSignal,
): Promise<void> {
  const { log } = services;
  await log.append({ type: 'sampling.started', attempt: turn.attempt });
  const unfinished: Unfinished = new Map();
  const cut = new AbortController();
  const stopListening = services.input.onCut(() => cut.abort());
  let end: StreamEnd;
  try {
    end = await readStream(turn, services, calls, unfinished, AbortSignal.any([signal, cut.signal]));
  } catch (error) {
    if (!signal.aborted && !cut.signal.aborted) throw error;
    end = { kind: 'cut' };
  } finally {
    stopListening();
  }
  // Codex 0.171 keeps nothing of a half message at an interrupt: the user wanted it gone.
  if (end.kind === 'cut' && !signal.aborted) await keepCutMessage(unfinished, services);
  if (end.kind === 'result') await keepUnendedMessages(unfinished, services);
  for (const itemId of unfinished.keys()) log.emit({ type: 'item.discarded', itemId });
  await log.append({ type: 'sampling.ended', result: samplingResult(end, turn, services) });
}

async function readStream(
  turn: ActiveTurn,
  services: TurnServices,
  calls: ToolCalls,
  unfinished: Unfinished,
  signal: AbortSignal,
): Promise<StreamEnd> {
  const seen: ToolCallItem[] = [];
  for await (const event of services.provider.sample(buildRequest(turn, services), signal)) {
    switch (event.type) {
      case 'item':
        unfinished.delete(event.item.id);
        await takeItem(event.item, seen, services, calls);
        break;
      case 'completed':
        return { kind: 'result', result: completed(event) };
      case 'incomplete':
        if (event.reason === 'max_output_tokens')
          return {
            kind: 'result',
            result: { ok: true, truncated: true, reason: event.reason, ...(event.usage ? { usage: event.usage } : {}) },
          };
        return {
          kind: 'failure',
          error: { kind: 'incomplete', message: `incomplete response returned, reason: ${event.reason}` },
        };
      case 'failed':
        return { kind: 'failure', error: event.error };
      default:
        showProgress(event, services, unfinished);
    }
    signal.throwIfAborted(); // after the event in hand: what arrived complete is kept
  }
  return {
    kind: 'failure',
    error: {
      kind: 'streamCut',
      message: 'stream disconnected before completion: stream closed before response.completed',
    },
  };
}

function completed(event: Extract<ModelEvent, { type: 'completed' }>): Extract<SamplingResult, { ok: true }> {
  return {
    ok: true,
    ...(event.endTurn === undefined ? {} : { endTurn: event.endTurn }),
    ...(event.usage ? { usage: event.usage } : {}),
    ...(event.responseId ? { responseId: event.responseId } : {}),
  };
}

/** Records an item; a call is recorded before it starts. The same call twice in one response counts once. */
async function takeItem(
  item: ModelItem,
  seen: ToolCallItem[],
  services: TurnServices,
  calls: ToolCalls,
): Promise<void> {
  if (item.type !== 'toolCall') return services.log.append({ type: 'item.completed', item });
  if (seen.some((earlier) => isSameCall(earlier, item))) return;
  seen.push(item);
  const call = withOwnId(item, seen);
  await services.log.append({ type: 'item.completed', item: call });
  calls.start(call);
}

/** Different calls of one response under one id: outputs are told apart by it, so the later ones get an id of their own. */
function withOwnId(call: ToolCallItem, seen: readonly ToolCallItem[]): ToolCallItem {
  const sharing = seen.filter((earlier) => earlier.callId === call.callId).length;
  return sharing === 1 ? call : { ...call, callId: `${call.callId}_${sharing}` };
}

function isSameCall(a: ToolCallItem, b: ToolCallItem): boolean {
  return a.callId === b.callId && a.tool === b.tool && JSON.stringify(a.payload) === JSON.stringify(b.payload);
}

function showProgress(
  event: Exclude<ModelEvent, { type: 'item' | 'completed' | 'incomplete' | 'failed' }>,
  services: TurnServices,
  unfinished: Unfinished,
): void {
  switch (event.type) {
    case 'itemStarted':
      unfinished.set(event.itemId, { itemType: event.itemType, text: '' });
      services.log.emit({
        type: 'item.started',
        itemId: event.itemId,
        itemType: event.itemType,
        ...(event.tool ? { tool: event.tool } : {}),
      });
      break;
    case 'text': {
      const open = unfinished.get(event.itemId);
      if (open) open.text += event.text;
      services.log.emit(event);
      break;
    }
    default:
      services.log.emit(event);
  }
}

/** What the user has read of a cut message stays in history, marked, so that the model knows it too. */
async function keepCutMessage(unfinished: Unfinished, services: TurnServices): Promise<void> {
  for (const [id, open] of unfinished) {
    if (open.itemType !== 'agentMessage' || open.text.trim().split(/\s+/).length <= KEEP_CUT_WORDS) continue;
    unfinished.delete(id);
    await services.log.append({
      type: 'item.completed',
      item: { type: 'agentMessage', id, text: open.text, incomplete: true },
    });
  }
}

/** Some servers say that the response is over without a word on its messages; what they streamed is the answer. */
async function keepUnendedMessages(unfinished: Unfinished, services: TurnServices): Promise<void> {
  for (const [id, { itemType, text }] of unfinished) {
    if (itemType !== 'agentMessage' || text === '') continue;
    unfinished.delete(id);
    await services.log.append({ type: 'item.completed', item: { type: 'agentMessage', id, text } });
  }
}

function samplingResult(end: StreamEnd, turn: ActiveTurn, services: TurnServices): SamplingResult {
  if (end.kind === 'result') return end.result;
  if (end.kind === 'cut') return { ok: true, cut: true };
  const maxRetries = services.provider.streamMaxRetries;
  const plan = planRetry(end.error, turn.attempt + 1, maxRetries, services.random());
  if (!plan.retry) return { ok: false, error: end.error, willRetry: false };
  return { ok: false, error: end.error, willRetry: true, retry: turn.attempt + 1, maxRetries, delayMs: plan.delayMs };
}

function buildRequest(turn: ActiveTurn, services: TurnServices): ModelRequest {
  const { settings } = turn;
  return {
    model: settings.model,
    input: services.log.state.history,
    tools: services.tools(),
    ...(settings.reasoningEffort ? { reasoningEffort: settings.reasoningEffort } : {}),
    ...(settings.reasoningSummary ? { reasoningSummary: settings.reasoningSummary } : {}),
    ...(settings.verbosity ? { verbosity: settings.verbosity } : {}),
    ...(settings.outputSchema === undefined ? {} : { outputSchema: settings.outputSchema }),
    cacheKey: services.log.threadId,
    metadata: { thread_id: services.log.threadId, turn_id: turn.id },
  };
}

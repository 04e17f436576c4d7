/** Records and deltas of one thread as notifications. Pure: state in, notifications out. */
import type {
  ApprovalRequest,
  Delta,
  Item,
  ModelFailure,
  SamplingResult,
  ThreadEvent,
  ThreadRecord,
  ToolCallItem,
  ToolOutcome,
  ToolView,
  UserQuestion,
} from '../protocol/index.js';
import { addUsage, NO_USAGE, type Usage } from '../protocol/index.js';
import type { ClientToolName } from './client-tools.js';
import {
  agentMessage,
  callArguments,
  clientToolItem,
  errorInfo,
  isStillRunning,
  modelItem,
  reasoning,
  toolEnd,
  toolStart,
  userMessage,
  viewOfCall,
  type WireItem,
  wireUsage,
} from './wire-items.js';

export interface Notification {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** What the server has to ask its clients, at its place among the notifications. */
export type Outgoing =
  | { readonly kind: 'notify'; readonly notification: Notification }
  | { readonly kind: 'approval'; readonly request: ApprovalRequest }
  | {
      readonly kind: 'question';
      readonly callId: string;
      readonly turnId: string;
      readonly questions: readonly UserQuestion[];
    }
  /** A call of a client's tool has begun: the client must run it. */
  | { readonly kind: 'clientCall'; readonly callId: string; readonly params: Readonly<Record<string, unknown>> }
  | { readonly kind: 'resolved'; readonly key: string };

interface CallState {
  readonly call: ToolCallItem;
  view?: ToolView;
  started: boolean;
  /** Set for a tool that the client runs. */
  readonly client: ClientToolName | undefined;
  startedAtMs: number;
}

export class ThreadMapper {
  readonly #threadId: string;
  readonly #clientTools: ReadonlyMap<string, ClientToolName>;
  readonly #calls = new Map<string, CallState>();
  readonly #begun = new Set<string>();
  /** Commands that outlived their calls, by call id. */
  readonly #sessions = new Map<string, { item: WireItem; turnId: string; startedAtMs: number }>();
  #turnId = '';
  #cwd = '';
  #startedAtMs = 0;
  #total: Usage;
  #lastMessage: WireItem | undefined;
  /** Usage of a response whose calls still run; it is told after them. */
  #heldUsage: Usage | undefined;
  #diff: string | undefined;
  #diffTold = false;
  #out: Outgoing[] = [];

  constructor(threadId: string, usage: Usage = NO_USAGE, clientTools: ReadonlyMap<string, ClientToolName> = new Map()) {
    this.#threadId = threadId;
    this.#clientTools = clientTools;
    this.#total = usage;
  }

  /** The active turn, or the last one. */
  get turnId(): string {
    return this.#turnId;
  }

  next(event: ThreadEvent): readonly Outgoing[] {
    this.#out = [];
    if (event.kind === 'record') this.#record(event.stored.record, event.stored.atMs);
    else this.#delta(event.delta);
    return this.#out;
  }

  #notify(method: string, params: Readonly<Record<string, unknown>>): void {
    this.#out.push({ kind: 'notify', notification: { method, params: { threadId: this.#threadId, ...params } } });
  }

  #itemStarted(item: WireItem, atMs: number): void {
    this.#begun.add(item.id);
    this.#notify('item/started', { turnId: this.#turnId, item, startedAtMs: atMs });
  }

  #itemCompleted(item: WireItem, atMs: number): void {
    this.#begun.delete(item.id);
    this.#notify('item/completed', { turnId: this.#turnId, item, completedAtMs: atMs });
  }

  #record(record: ThreadRecord, atMs: number): void {
    switch (record.type) {
      case 'turn.started':
        return this.#turnStarted(record, atMs);
      case 'input.accepted':
        return this.#input(record.item, atMs);
      case 'item.completed':
        return this.#item(record.item, atMs);
      case 'tool.started':
        return this.#toolStarted(record.callId, record.view, atMs);
      case 'approval.asked':
        this.#toolStarted(record.request.callId, record.request.view, atMs);
        this.#status(['waitingOnApproval']);
        this.#out.push({ kind: 'approval', request: record.request });
        return;
      case 'approval.answered':
        this.#out.push({ kind: 'resolved', key: record.approvalId });
        return this.#status([]);
      case 'question.asked':
        this.#status(['waitingOnUserInput']);
        this.#out.push({ kind: 'question', callId: record.callId, turnId: this.#turnId, questions: record.questions });
        return;
      case 'question.answered':
        this.#out.push({ kind: 'resolved', key: record.callId });
        return this.#status([]);
      case 'sampling.ended':
        return this.#samplingEnded(record.result);
      case 'warning':
        return this.#notify('warning', { message: record.message });
      case 'turn.ended':
        return this.#turnEnded(record, atMs);
      default: // nothing that a client sees
    }
  }

  #status(activeFlags: readonly string[]): void {
    this.#notify('thread/status/changed', { status: { type: 'active', activeFlags } });
  }

  #turnStarted(record: Extract<ThreadRecord, { type: 'turn.started' }>, atMs: number): void {
    this.#turnId = record.turnId;
    this.#cwd = record.settings.cwd;
    this.#startedAtMs = atMs;
    this.#lastMessage = undefined;
    this.#diff = undefined;
    this.#status([]);
    this.#notify('turn/started', { turn: this.turn('inProgress') });
  }

  /** The active (or last) turn as the protocol shows it. */
  turn(status: string, more: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
    return {
      id: this.#turnId,
      items: [],
      itemsView: 'notLoaded',
      status,
      error: null,
      startedAt: Math.floor(this.#startedAtMs / 1000),
      completedAt: null,
      durationMs: null,
      ...more,
    };
  }

  #input(item: Item, atMs: number): void {
    if (item.type !== 'userMessage') return;
    this.#itemStarted(userMessage(item), atMs);
    this.#itemCompleted(userMessage(item), atMs);
  }

  #item(item: Item, atMs: number): void {
    if (item.type === 'toolCall') this.#callMade(item, atMs);
    if (item.type === 'toolOutput') return this.#toolEnded(item, atMs);
    const shown = modelItem(item);
    if (!shown) return;
    if (!this.#begun.has(shown.id))
      this.#itemStarted(item.type === 'agentMessage' ? agentMessage(item.id, '', item.phase) : shown, atMs);
    if (item.type === 'agentMessage') this.#lastMessage = shown;
    this.#itemCompleted(shown, atMs);
  }

  #callMade(call: ToolCallItem, atMs: number): void {
    const client = this.#clientTools.get(call.namespace ? `${call.namespace}__${call.tool}` : call.tool);
    this.#calls.set(call.callId, { call, started: false, client, startedAtMs: atMs });
  }

  #toolStarted(callId: string, view: ToolView, atMs: number): void {
    const state = this.#calls.get(callId);
    if (!state || state.started) return;
    state.view = view;
    state.started = true;
    state.startedAtMs = atMs;
    if (state.client) return this.#clientCallStarted(state.call, state.client, atMs);
    const item = toolStart(callId, view);
    if (item) this.#itemStarted(item, atMs);
  }

  #clientCallStarted(call: ToolCallItem, name: ClientToolName, atMs: number): void {
    const { callId } = call;
    this.#itemStarted(clientToolItem(call, name), atMs);
    const params = { threadId: this.#threadId, turnId: this.#turnId, callId, ...name, arguments: callArguments(call) };
    this.#out.push({ kind: 'clientCall', callId, params });
  }

  #clientCallEnded({ call, client, started, startedAtMs }: CallState, outcome: ToolOutcome, atMs: number): void {
    if (!client) return;
    if (!started) this.#itemStarted(clientToolItem(call, client), atMs); // refused before it began
    const durationMs = Math.max(0, atMs - startedAtMs);
    this.#itemCompleted(clientToolItem(call, client, { outcome, durationMs }), atMs);
  }

  #toolEnded(item: Extract<Item, { type: 'toolOutput' }>, atMs: number): void {
    const state = this.#calls.get(item.callId);
    this.#calls.delete(item.callId);
    const { outcome } = item;
    if (outcome.report?.type === 'plan') this.#planUpdated(outcome.report);
    if (state?.client) this.#clientCallEnded(state, outcome, atMs);
    const view = state?.view ?? (state && viewOfCall(state.call, this.#cwd));
    if (view && state) {
      if (!state.started) this.#unseenStart(item.callId, view, atMs);
      const end = toolEnd(item.callId, view, outcome);
      if (end && view.type === 'image') this.#itemStarted(end, atMs);
      // Codex 0.171: a command that became a session completes when its process does.
      if (end && isStillRunning(outcome))
        this.#sessions.set(item.callId, { item: end, turnId: this.#turnId, startedAtMs: state.startedAtMs });
      else if (end) this.#itemCompleted(end, atMs);
    }
    this.#releaseUsage();
  }

  /** The output after the handover went to whoever polled; the item keeps what it had. */
  #sessionEnded({ callId, exitCode }: Extract<Delta, { type: 'session.ended' }>): void {
    const session = this.#sessions.get(callId);
    if (!session) return;
    this.#sessions.delete(callId);
    const now = Date.now();
    const durationMs = Math.max(0, now - session.startedAtMs);
    const item = { ...session.item, status: exitCode === 0 ? 'completed' : 'failed', exitCode, durationMs };
    this.#notify('item/completed', { turnId: session.turnId, item, completedAtMs: now });
  }

  #unseenStart(callId: string, view: ToolView, atMs: number): void {
    const start = toolStart(callId, view);
    if (start) this.#itemStarted(start, atMs);
  }

  #planUpdated(report: { explanation?: string; steps: readonly { step: string; status: string }[] }): void {
    const plan = report.steps.map(({ step, status }) => ({
      step,
      status: status === 'in_progress' ? 'inProgress' : status,
    }));
    this.#notify('turn/plan/updated', { turnId: this.#turnId, explanation: report.explanation ?? null, plan });
  }

  #samplingEnded(result: SamplingResult): void {
    if ('usage' in result && result.usage) {
      this.#total = addUsage(this.#total, result.usage);
      this.#heldUsage = result.usage;
    }
    this.#releaseUsage();
    if (!result.ok && result.willRetry) {
      const message = `Reconnecting... ${result.retry ?? 1}/${result.maxRetries ?? 1}`;
      const codexErrorInfo = { responseStreamDisconnected: { httpStatusCode: result.error.httpStatus ?? null } };
      this.#error({ message, codexErrorInfo, additionalDetails: result.error.message }, true);
    }
  }

  #releaseUsage(): void {
    if (!this.#heldUsage || this.#calls.size > 0) return;
    const tokenUsage = { total: wireUsage(this.#total), last: wireUsage(this.#heldUsage), modelContextWindow: null };
    this.#heldUsage = undefined;
    this.#notify('thread/tokenUsage/updated', { turnId: this.#turnId, tokenUsage });
    // Told after each patch, and again after a response that brought none.
    if (this.#diff && !this.#diffTold) this.#diffUpdated();
    this.#diffTold = false;
  }

  #diffUpdated(): void {
    if (this.#diff !== undefined) this.#notify('turn/diff/updated', { turnId: this.#turnId, diff: this.#diff });
  }

  #error(error: Readonly<Record<string, unknown>>, willRetry: boolean): void {
    this.#notify('error', { turnId: this.#turnId, error, willRetry });
  }

  #turnEnded(record: Extract<ThreadRecord, { type: 'turn.ended' }>, atMs: number): void {
    const error = record.error ? wireError(record.error) : null;
    if (error) this.#error(error, false);
    const items = record.status === 'completed' && this.#lastMessage ? [this.#lastMessage] : [];
    const itemsView = items.length > 0 ? 'summary' : 'notLoaded';
    const durationMs = Math.max(0, atMs - this.#startedAtMs);
    const turn = this.turn(record.status, {
      items,
      itemsView,
      error,
      completedAt: Math.floor(atMs / 1000),
      durationMs,
    });
    this.#calls.clear();
    this.#notify('thread/status/changed', { status: { type: 'idle' } });
    this.#notify('turn/completed', { turn, ...(record.pendingInput ? { pendingInput: record.pendingInput } : {}) });
  }

  #delta(delta: Delta): void {
    const turnId = this.#turnId;
    switch (delta.type) {
      case 'item.started':
        if (delta.itemType === 'agentMessage') this.#itemStarted(agentMessage(delta.itemId, ''), Date.now());
        if (delta.itemType === 'reasoning') this.#itemStarted(reasoning(delta.itemId, []), Date.now());
        return;
      case 'text':
        return this.#notify('item/agentMessage/delta', { turnId, itemId: delta.itemId, delta: delta.text });
      case 'reasoning':
        return this.#notify('item/reasoning/summaryTextDelta', {
          turnId,
          itemId: delta.itemId,
          delta: delta.text,
          summaryIndex: delta.part,
        });
      case 'command.output':
        return this.#notify('item/commandExecution/outputDelta', { turnId, itemId: delta.callId, delta: delta.text });
      case 'turn.diff':
        this.#diff = delta.diff;
        this.#diffTold = true;
        return this.#diffUpdated();
      case 'item.discarded':
        return this.#notify('item/discarded', { turnId, itemId: delta.itemId });
      case 'session.ended':
        return this.#sessionEnded(delta);
      default: // arguments are shown by nobody
    }
  }
}

function wireError(failure: ModelFailure): Readonly<Record<string, unknown>> {
  return { message: failure.message, codexErrorInfo: errorInfo(failure), additionalDetails: null };
}

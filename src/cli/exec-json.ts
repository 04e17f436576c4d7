/**
 * From thread events to the lines of `exec --json`: a pure reducer. Records decide; of the deltas only those count that
 * tell the end of a background command. Wire names live here and in `exec-items.ts` only. Shapes are those recorded from
 * Codex 0.171; a refused call is an item of its own, with status `declined` and who decided.
 */
import {
  addUsage,
  type Delta,
  type Item,
  NO_USAGE,
  type ThreadEvent,
  type ThreadRecord,
  type Usage,
} from '../protocol/index.js';
import {
  completeToolItem,
  declinedItem,
  type ExecItem,
  type ExecItemBody,
  searchItem,
  startToolItem,
  todoItem,
} from './exec-items.js';

export interface ExecUsage {
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly cache_write_input_tokens: number;
  readonly output_tokens: number;
  readonly reasoning_output_tokens: number;
}

export type ExecEvent =
  | { readonly type: 'thread.started'; readonly thread_id: string }
  | { readonly type: 'turn.started' }
  | { readonly type: 'item.started' | 'item.updated' | 'item.completed'; readonly item: ExecItem }
  | { readonly type: 'turn.completed'; readonly usage: ExecUsage }
  | { readonly type: 'turn.failed'; readonly error: { readonly message: string } }
  | { readonly type: 'error'; readonly message: string };

export interface ExecJsonMapper {
  /** The lines an event becomes, in order; often none. */
  next(event: ThreadEvent): readonly ExecEvent[];
  /** The last lines when the turn's end cannot be recorded any more; none when the turn has not begun. */
  failed(message: string): readonly ExecEvent[];
}

export interface ExecJsonStart {
  readonly threadId: string;
  /** What the thread used before, when it is resumed: the totals go on. */
  readonly usage?: Usage;
}

export function createExecJsonMapper(start: ExecJsonStart): ExecJsonMapper {
  return new Mapper(start);
}

/** A tool item that has been announced. */
interface OpenItem {
  readonly id: string;
  readonly body: ExecItemBody;
}

type Call = Extract<Item, { type: 'toolCall' }>;

class Mapper implements ExecJsonMapper {
  readonly #threadId: string;
  #usage: Usage;
  #announced = false;
  #items = 0;
  #todo: OpenItem | undefined;
  /** By call id: calls the model made, items shown for them, commands that outlived their call. */
  readonly #calls = new Map<string, Call>();
  readonly #open = new Map<string, OpenItem>();
  readonly #background = new Map<string, { readonly item: OpenItem; output: string }>();

  constructor(start: ExecJsonStart) {
    this.#threadId = start.threadId;
    this.#usage = start.usage ?? NO_USAGE;
  }

  next(event: ThreadEvent): readonly ExecEvent[] {
    const lines = event.kind === 'record' ? this.#record(event.stored.record) : this.#delta(event.delta);
    if (this.#announced || event.kind === 'delta') return lines;
    this.#announced = true;
    return [{ type: 'thread.started', thread_id: this.#threadId }, ...lines];
  }

  failed(message: string): readonly ExecEvent[] {
    return this.#announced ? this.#turnFailed(message, []) : [];
  }

  #record(record: ThreadRecord): readonly ExecEvent[] {
    switch (record.type) {
      case 'turn.started':
        return [{ type: 'turn.started' }];
      case 'warning':
        return [this.#once({ type: 'error', message: record.message })];
      case 'item.completed':
        return this.#item(record.item);
      case 'tool.started':
        return this.#toolStarted(record);
      case 'sampling.ended':
        return this.#samplingEnded(record);
      case 'turn.ended':
        return this.#turnEnded(record);
      default:
        return []; // the rest does not show on this wire
    }
  }

  #item(item: Item): readonly ExecEvent[] {
    switch (item.type) {
      case 'agentMessage':
        return [this.#once({ type: 'agent_message', text: item.text })];
      case 'reasoning':
        return item.summary.length > 0 ? [this.#once({ type: 'reasoning', text: item.summary.join('\n') })] : [];
      case 'hostedCall':
        return this.#hosted(item);
      case 'toolCall':
        this.#calls.set(item.callId, item);
        return [];
      case 'toolOutput':
        return this.#toolOutput(item);
      default:
        return [];
    }
  }

  /** An item without a beginning. */
  #once(body: ExecItemBody): ExecEvent {
    return { type: 'item.completed', item: { id: this.#nextId(), ...body } };
  }

  /** Codex 0.171 writes the key `id` twice here; readers keep the second, the provider's. */
  #hosted(item: Extract<Item, { type: 'hostedCall' }>): readonly ExecEvent[] {
    if (item.tool !== 'web_search') return [];
    const own = this.#nextId();
    const shown = { id: typeof item.raw['id'] === 'string' ? item.raw['id'] : own, ...searchItem(item.raw) };
    return [
      { type: 'item.started', item: shown },
      { type: 'item.completed', item: shown },
    ];
  }

  #toolStarted(record: Extract<ThreadRecord, { type: 'tool.started' }>): readonly ExecEvent[] {
    if (record.attempt === 2) return [];
    const body = startToolItem(record.view);
    if (!body) return [];
    const item = { id: this.#nextId(), body };
    this.#open.set(record.callId, item);
    return [{ type: 'item.started', item: shown(item) }];
  }

  #toolOutput(output: Extract<Item, { type: 'toolOutput' }>): readonly ExecEvent[] {
    const { callId, outcome } = output;
    const call = this.#calls.get(callId);
    this.#calls.delete(callId);
    if (outcome.report?.type === 'plan') return this.#plan(todoItem(outcome.report.steps));
    const open = this.#open.get(callId);
    this.#open.delete(callId);
    if (!open) return outcome.kind === 'rejected' && call ? [this.#once(declinedItem(call, outcome))] : [];
    const ended = { id: open.id, body: completeToolItem(open.body, outcome) };
    if (outcome.report?.type === 'command' && outcome.report.sessionId !== undefined) {
      const text = ended.body.type === 'command_execution' ? ended.body.aggregated_output : '';
      this.#background.set(callId, { item: open, output: text });
      return [];
    }
    return [{ type: 'item.completed', item: shown(ended) }];
  }

  #plan(body: ExecItemBody): readonly ExecEvent[] {
    const type = this.#todo ? 'item.updated' : 'item.started';
    this.#todo = { id: this.#todo?.id ?? this.#nextId(), body };
    return [{ type, item: shown(this.#todo) }];
  }

  #samplingEnded(record: Extract<ThreadRecord, { type: 'sampling.ended' }>): readonly ExecEvent[] {
    const { result } = record;
    if (result.ok) {
      if (result.usage) this.#usage = addUsage(this.#usage, result.usage);
      return [];
    }
    if (!result.willRetry) return [];
    const message = `Reconnecting... ${result.retry ?? 1}/${result.maxRetries ?? 1} (${result.error.message})`;
    return [{ type: 'error', message }];
  }

  #turnEnded(record: Extract<ThreadRecord, { type: 'turn.ended' }>): readonly ExecEvent[] {
    const todo: ExecEvent[] = this.#todo ? [{ type: 'item.completed', item: shown(this.#todo) }] : [];
    this.#todo = undefined;
    if (record.status === 'completed') return [...todo, { type: 'turn.completed', usage: wireUsage(this.#usage) }];
    if (record.status === 'interrupted')
      return [
        ...todo,
        { type: 'turn.failed', error: { message: `the turn was interrupted (${record.reason ?? 'user'})` } },
      ];
    return this.#turnFailed(record.error?.message ?? record.reason ?? 'the turn failed', todo);
  }

  #turnFailed(message: string, todo: readonly ExecEvent[]): readonly ExecEvent[] {
    return [{ type: 'error', message }, ...todo, { type: 'turn.failed', error: { message } }];
  }

  #delta(delta: Delta): readonly ExecEvent[] {
    if (delta.type === 'command.output') {
      const background = this.#background.get(delta.callId);
      if (background) background.output += delta.text;
    }
    if (delta.type !== 'session.ended') return [];
    const background = this.#background.get(delta.callId);
    this.#background.delete(delta.callId);
    if (background?.item.body.type !== 'command_execution') return [];
    const body: ExecItemBody = {
      ...background.item.body,
      aggregated_output: background.output,
      exit_code: delta.exitCode,
      status: delta.exitCode === 0 ? 'completed' : 'failed',
    };
    return [{ type: 'item.completed', item: { id: background.item.id, ...body } }];
  }

  #nextId(): string {
    return `item_${this.#items++}`;
  }
}

function shown(item: OpenItem): ExecItem {
  return { id: item.id, ...item.body };
}

function wireUsage(usage: Usage): ExecUsage {
  return {
    input_tokens: usage.inputTokens,
    cached_input_tokens: usage.cachedInputTokens,
    cache_write_input_tokens: usage.cacheWriteInputTokens,
    output_tokens: usage.outputTokens,
    reasoning_output_tokens: usage.reasoningOutputTokens,
  };
}

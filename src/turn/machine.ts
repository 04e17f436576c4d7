/**
 * The turn machine: a thread's state is its records folded by `apply`, and `nextStep` says what to do now.
 * Nothing here waits, calls back or looks at a clock, so it can be replayed and tested record by record.
 *
 *  idle ──turn.started──▶ preparing ──sampling.started──▶ sampling ──sampling.ended──▶ collecting
 *                           ▲  ▲                                                          │ all outputs in
 *                           │  └──── retry · follow-up · cut for a steer ◀────────────────┤
 *                           └── input accepted · stop hook blocked ◀── finishing ◀────────┘
 *                                                                         │ hooks done, nothing waiting
 *                                                                     turn.ended ──▶ idle
 */
import { AppendList } from '../lib/index.js';
import {
  addUsage,
  assertNever,
  type Item,
  type ModelFailure,
  NO_USAGE,
  type SamplingResult,
  type ThreadRecord,
  type ThreadSettings,
  type ToolCallItem,
  type ToolOutputItem,
  type TurnKind,
  type TurnSettings,
  type Usage,
} from '../protocol/index.js';
import { decideFollowUp, type SamplingFacts } from './follow-up.js';

export type Phase = 'idle' | 'preparing' | 'sampling' | 'collecting' | 'finishing';

/** A call of the current sampling. It leaves this list, together with all its neighbours, when every one has an output. */
export interface OpenCall {
  readonly item: ToolCallItem;
  readonly started: boolean;
  readonly output?: ToolOutputItem;
}

export interface ActiveTurn {
  readonly id: string;
  readonly kind: TurnKind;
  readonly settings: TurnSettings;
  /** Samplings begun, retries not counted. */
  readonly steps: number;
  /** Retries of the current sampling so far. */
  readonly attempt: number;
  /** How long to wait before the next attempt. */
  readonly retryDelayMs: number;
  /** Calls that a failed attempt already made; the retry's input says so. */
  readonly madeBeforeRetry: readonly ToolCallItem[];
  /** Waiting input may join now. False until the input that started the turn was sampled once. */
  readonly canDrain: boolean;
  readonly calls: readonly OpenCall[];
  readonly sampled: SamplingFacts;
  /** What happens once all outputs are in. */
  readonly after: 'next' | 'retry' | 'finish' | 'fail';
  readonly failure?: ModelFailure;
  /** Consecutive follow-ups that brought neither text nor a call. */
  readonly emptyFollowUps: number;
  /** Output-limit cuts that were followed up. */
  readonly truncations: number;
  /** The last answer was cut by the output limit; the next request says so. */
  readonly wasTruncated: boolean;
  /** Consecutive stop-hook continuations without a tool call between them. */
  readonly stopBlocks: number;
  readonly stopHooksDone: boolean;
  readonly lastMessage?: string;
  readonly usageAtStart: Usage;
}

export interface ThreadState {
  readonly phase: Phase;
  readonly settings?: ThreadSettings;
  /** Settings of the last turn, or the thread's own before the first. */
  readonly lastSettings?: TurnSettings;
  readonly history: AppendList<Item>;
  readonly turn?: ActiveTurn;
  readonly usage: Usage;
  readonly lastUsage?: Usage;
  readonly turnCount: number;
}

export const INITIAL_STATE: ThreadState = { phase: 'idle', history: AppendList.of(), usage: NO_USAGE, turnCount: 0 };

export type Step =
  | { readonly do: 'accept' }
  | { readonly do: 'sample' }
  | { readonly do: 'settle'; readonly calls: readonly OpenCall[] }
  | { readonly do: 'stopHooks' }
  | { readonly do: 'end'; readonly status: 'completed' }
  | { readonly do: 'end'; readonly status: 'failed'; readonly error: ModelFailure }
  | { readonly do: 'wait' };

const NOTHING_SAMPLED: SamplingFacts = { text: false, calls: 0 };

/** What a record does to the state. Records that only inform clients change nothing. */
export function apply(state: ThreadState, record: ThreadRecord): ThreadState {
  switch (record.type) {
    case 'thread.started':
      return { ...state, settings: record.settings, lastSettings: record.settings.turn };
    case 'turn.started':
      return {
        ...state,
        phase: 'preparing',
        lastSettings: record.settings,
        turnCount: state.turnCount + 1,
        turn: newTurn(record, state.usage),
      };
    case 'input.accepted':
      return acceptInput(state, record.item, record.via === 'start');
    case 'sampling.started':
      return { ...update(state, samplingStarted(state, record.attempt)), phase: 'sampling' };
    case 'item.completed':
      return completeItem(state, record.item);
    case 'sampling.ended':
      return endSampling(state, record.result);
    case 'tool.started':
      return update(state, { calls: markStarted(state.turn?.calls ?? [], record.callId) });
    case 'hooks.ran':
      return record.event === 'stop' ? stopHooksRan(state, record.block !== undefined) : state;
    case 'history.compacted':
      return { ...state, history: AppendList.of([record.summary, ...[...state.history].slice(record.replaces)]) };
    case 'turn.ended':
      return endTurn(state);
    case 'approval.asked':
    case 'approval.answered':
    case 'question.asked':
    case 'question.answered':
    case 'amendment.learned':
    case 'warning':
      return state;
    default:
      return assertNever(record);
  }
}

/** An output of the running turn that answers no open call. It changes nothing; only an edited log holds one. */
export function isStrayOutput({ turn }: ThreadState, record: ThreadRecord): boolean {
  if (!turn || record.type !== 'item.completed' || record.item.type !== 'toolOutput') return false;
  const { callId } = record.item;
  return callId !== '' && !turn.calls.some((call) => call.item.callId === callId && !call.output);
}

/** What to do now. `inputWaiting`: a steer has been accepted but not yet recorded. */
export function nextStep(state: ThreadState, inputWaiting: boolean): Step {
  const turn = state.turn;
  if (!turn) return { do: 'wait' };
  switch (state.phase) {
    case 'idle':
    case 'sampling': // only the stream can move it
      return { do: 'wait' };
    case 'preparing':
      if (inputWaiting && turn.canDrain) return { do: 'accept' };
      return overBudget(state, turn) ?? { do: 'sample' };
    case 'collecting':
      return { do: 'settle', calls: turn.calls.filter((call) => !call.output) };
    case 'finishing':
      if (turn.failure) return { do: 'end', status: 'failed', error: turn.failure };
      if (inputWaiting) return { do: 'accept' };
      return turn.stopHooksDone ? { do: 'end', status: 'completed' } : { do: 'stopHooks' };
    default:
      return assertNever(state.phase);
  }
}

function newTurn(record: Extract<ThreadRecord, { type: 'turn.started' }>, usage: Usage): ActiveTurn {
  return {
    id: record.turnId,
    kind: record.kind,
    settings: record.settings,
    steps: 0,
    attempt: 0,
    retryDelayMs: 0,
    madeBeforeRetry: [],
    canDrain: true,
    calls: [],
    sampled: NOTHING_SAMPLED,
    after: 'next',
    emptyFollowUps: 0,
    truncations: 0,
    wasTruncated: false,
    stopBlocks: 0,
    stopHooksDone: false,
    usageAtStart: usage,
  };
}

function update(state: ThreadState, change: Partial<ActiveTurn>): ThreadState {
  return state.turn ? { ...state, turn: { ...state.turn, ...change } } : state;
}

function acceptInput(state: ThreadState, item: Item, opensTurn: boolean): ThreadState {
  const change = { canDrain: !opensTurn, attempt: 0, retryDelayMs: 0, stopHooksDone: false };
  return {
    ...update(state, change),
    phase: state.turn ? 'preparing' : state.phase,
    history: state.history.append(item),
  };
}

function samplingStarted(state: ThreadState, attempt: number): Partial<ActiveTurn> {
  const steps = (state.turn?.steps ?? 0) + (attempt === 0 ? 1 : 0);
  return {
    steps,
    attempt,
    calls: [],
    sampled: NOTHING_SAMPLED,
    madeBeforeRetry: [],
    wasTruncated: false,
    after: 'next',
    stopHooksDone: false,
  };
}

function completeItem(state: ThreadState, item: Item): ThreadState {
  const turn = state.turn;
  if (item.type === 'toolOutput') {
    if (!turn || item.callId === '') return { ...state, history: state.history.append(item) };
    return flushWhenComplete(update(state, { calls: attachOutput(turn.calls, item) }));
  }
  const next = { ...state, history: state.history.append(item) };
  if (!turn) return next;
  if (item.type === 'toolCall')
    return update(next, {
      calls: [...turn.calls, { item, started: false }],
      sampled: { ...turn.sampled, calls: turn.sampled.calls + 1 },
      stopBlocks: 0,
    });
  if (item.type === 'agentMessage')
    return update(next, { sampled: { ...turn.sampled, text: true }, lastMessage: item.text });
  return next;
}

/** Outputs pair by position: the first call with this id that has none. */
function attachOutput(calls: readonly OpenCall[], output: ToolOutputItem): readonly OpenCall[] {
  const index = calls.findIndex((call) => call.item.callId === output.callId && !call.output);
  return calls.map((call, i) => (i === index ? { ...call, output } : call));
}

function markStarted(calls: readonly OpenCall[], callId: string): readonly OpenCall[] {
  const index = calls.findIndex((call) => call.item.callId === callId && !call.output);
  return calls.map((call, i) => (i === index ? { ...call, started: true } : call));
}

function endSampling(state: ThreadState, result: SamplingResult): ThreadState {
  const turn = state.turn;
  if (!turn) return state;
  const decided = decideFollowUp(result, turn);
  const usage = 'usage' in result ? result.usage : undefined;
  const counted = usage ? { ...state, usage: addUsage(state.usage, usage), lastUsage: usage } : state;
  return flushWhenComplete({
    ...update(counted, { ...decided, wasTruncated: 'truncated' in result, canDrain: true }),
    phase: 'collecting',
  });
}

/** Once the sampling is over and every call has its output, the outputs enter history in call order. */
function flushWhenComplete(state: ThreadState): ThreadState {
  const turn = state.turn;
  if (state.phase !== 'collecting' || !turn || turn.calls.some((call) => !call.output)) return state;
  const history = state.history.append(...turn.calls.map((call) => call.output!));
  const retry = turn.after === 'retry';
  return {
    ...update(state, { calls: [], madeBeforeRetry: retry ? turn.calls.map((call) => call.item) : [] }),
    history,
    phase: turn.after === 'next' || retry ? 'preparing' : 'finishing',
  };
}

function stopHooksRan(state: ThreadState, blocked: boolean): ThreadState {
  if (!blocked) return update(state, { stopHooksDone: true });
  return { ...update(state, { stopBlocks: (state.turn?.stopBlocks ?? 0) + 1 }), phase: 'preparing' };
}

function endTurn(state: ThreadState): ThreadState {
  const outputs = (state.turn?.calls ?? []).flatMap((call) => (call.output ? [call.output] : []));
  const { turn: _ended, ...rest } = state;
  return { ...rest, phase: 'idle', history: state.history.append(...outputs) };
}

function overBudget(state: ThreadState, turn: ActiveTurn): Step | undefined {
  const { maxSteps, maxTokens } = turn.settings.budget;
  const tokens = state.usage.totalTokens - turn.usageAtStart.totalTokens;
  if (maxSteps !== undefined && turn.steps >= maxSteps && turn.attempt === 0)
    return budgetEnd(`the turn used its budget of ${maxSteps} model requests`);
  if (maxTokens !== undefined && tokens >= maxTokens)
    return budgetEnd(`the turn used its budget of ${maxTokens} tokens (${tokens} so far)`);
  return undefined;
}

function budgetEnd(message: string): Step {
  return { do: 'end', status: 'failed', error: { kind: 'budget', message: `budget exhausted: ${message}` } };
}

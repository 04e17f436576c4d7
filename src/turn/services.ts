/** What a turn needs from outside. Everything effectful enters here. */
import type { Clock, Ids } from '../lib/index.js';
import type { ModelProvider, ToolSpec } from '../model/index.js';
import type { Item, ToolCallItem, TurnSettings, UserInput } from '../protocol/index.js';
import type { CallResult } from '../tools/index.js';
import type { ThreadLog } from './log.js';

/** Stop hooks run when the model is done. `block` sends the text to the model and the turn goes on. */
export interface StopHooks {
  run(
    facts: { turnId: string; settings: TurnSettings; stopHookActive: boolean; lastMessage: string | undefined },
    signal: AbortSignal,
  ): Promise<{ block?: string }>;
}

/** Prompt hooks see each input before the model does. `block` keeps it from the model; `contexts` follow it. */
export interface PromptHooks {
  run(
    facts: { turnId: string; input: readonly UserInput[]; settings: TurnSettings },
    signal: AbortSignal,
  ): Promise<{ block?: string; contexts: readonly string[] }>;
}

/** Input accepted while the turn runs, waiting for the next request. */
export interface PendingInput {
  readonly size: number;
  take(): readonly (readonly UserInput[])[];
  /** Refuses further input if nothing waits; false when something does. The turn may end only after `true`. */
  closeIfEmpty(): boolean;
  /** Closes whatever waits and returns it. */
  closeAndTake(): readonly (readonly UserInput[])[];
  /** Calls back when input arrives that wants the running response cut. Returns the way to stop listening. */
  onCut(listener: () => void): () => void;
}

/** Runs one tool call to its outcome. Rejects only when the frame broke. */
export type RunToolCall = (call: ToolCallItem, signal: AbortSignal) => Promise<CallResult>;

export interface TurnServices {
  readonly log: ThreadLog;
  readonly provider: ModelProvider;
  readonly input: PendingInput;
  readonly runToolCall: RunToolCall;
  readonly stopHooks?: StopHooks;
  readonly promptHooks?: PromptHooks;
  readonly clock: Clock;
  readonly ids: Ids;
  /** In [0, 1); spreads retries. */
  random(): number;
  /** The tool list of the next request. */
  tools(): readonly ToolSpec[];
  /** Consecutive stop-hook continuations before the turn ends anyway. */
  readonly maxStopContinuations: number;
}

/** A new item with an id of its own. */
export function contextItem(
  ids: Ids,
  role: 'developer' | 'user',
  kind: Extract<Item, { type: 'context' }>['kind'],
  text: string,
): Item {
  return { type: 'context', id: ids.next('msg'), role, kind, text };
}

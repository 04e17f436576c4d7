/** What front-ends hold of a thread. */
import type { ReviewDecision, SteerDelivery, ThreadEvent, TurnSettings, Usage, UserInput } from '../protocol/index.js';
import type { InputRefusal } from '../turn/index.js';

export type ThreadStatus =
  | { readonly kind: 'idle' }
  | { readonly kind: 'active'; readonly waitingOn: readonly ('approval' | 'userInput')[] };

/** What became of a submitted input. */
export type Admission =
  | { readonly kind: 'started'; readonly turnId: string }
  | { readonly kind: 'steered'; readonly turnId: string }
  | { readonly kind: 'refused'; readonly refusal: InputRefusal };

/** What the client's surroundings say, beside the input. Text of a source that nobody vouches for is not trusted. */
export interface ClientContext {
  readonly text: string;
  readonly trusted: boolean;
}

export interface SubmitOptions {
  /** Steer only: the input must join this turn. */
  readonly expectedTurnId?: string;
  /** What to do with an active turn when no `expectedTurnId` is given. Default `steer`. */
  readonly ifActive?: 'steer' | 'replace' | 'refuse';
  /** Overrides `steerDelivery` for this input. */
  readonly delivery?: SteerDelivery;
  /** Put before the input when it starts a turn. A steer takes none. */
  readonly context?: readonly ClientContext[];
  /** Settings for a turn started by this input, and for later ones. A steered turn keeps its own. */
  readonly settings?: Partial<TurnSettings>;
}

export interface Thread extends AsyncDisposable {
  readonly id: string;
  readonly status: ThreadStatus;
  /** Id of the active turn. */
  readonly activeTurnId: string | undefined;
  /** What the thread has used since it began, earlier processes included. */
  readonly usage: Usage;
  /** Starts a turn or steers the active one. Resolves once the input is safely recorded or queued. */
  submit(input: readonly UserInput[], options?: SubmitOptions): Promise<Admission>;
  /** Ends the turn; resolves after `turn.ended` is recorded. Rejects with `TW_USAGE` when it is not the active one. */
  interrupt(turnId: string, reason?: string): Promise<void>;
  /** False: nobody waits for this answer any more. */
  answer(approvalId: string, decision: ReviewDecision): boolean;
  /** Answers a question of the model (`request_user_input`). */
  answerQuestion(callId: string, answers: Readonly<Record<string, readonly string[]>>): boolean;
  /** Records from `fromSeq` (default: only new ones), then live records and deltas until the thread is disposed. */
  events(fromSeq?: number): AsyncIterable<ThreadEvent>;
  /** Resolves when no turn is active. */
  idle(): Promise<void>;
}

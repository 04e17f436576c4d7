/** One turn from input to end, for programs that want the answer and not the events. */
import {
  type ModelFailure,
  type ThreadEvent,
  type ThreadRecord,
  type TurnStatus,
  TurnwrightError,
  type UserInput,
} from '../protocol/index.js';
import type { Thread } from '../thread/index.js';

export interface TurnResult {
  readonly turnId: string;
  readonly status: TurnStatus;
  /** The model's last message in this turn; empty when it said nothing. */
  readonly message: string;
  /** Why it failed. */
  readonly error?: ModelFailure;
  /** Input that never reached the model. */
  readonly pendingInput?: readonly (readonly UserInput[])[];
}

/**
 * Starts a turn on an idle thread and resolves when it has ended, however it ended. `onEvent` sees every event on the way,
 * approvals among them. Throws `TW_THREAD_BUSY` when a turn is active.
 */
export async function runTurn(
  thread: Thread,
  input: string | readonly UserInput[],
  onEvent: (event: ThreadEvent) => void = () => {},
): Promise<TurnResult> {
  const events = thread.events();
  const admission = await thread.submit(typeof input === 'string' ? [{ type: 'text', text: input }] : input, {
    ifActive: 'refuse',
  });
  if (admission.kind === 'refused')
    throw new TurnwrightError('TW_THREAD_BUSY', `thread ${thread.id} did not take the input`, {
      facts: { refusal: admission.refusal },
    });
  const { turnId } = admission;
  let message = '';
  for await (const event of events) {
    onEvent(event);
    if (event.kind !== 'record') continue;
    const { record } = event.stored;
    if (record.type === 'item.completed' && record.item.type === 'agentMessage') message = record.item.text;
    if (record.type === 'turn.ended' && record.turnId === turnId) return resultOf(record, message);
  }
  throw new TurnwrightError('TW_TURN_FAILED', `thread ${thread.id} was closed before its turn ended`);
}

function resultOf(end: Extract<ThreadRecord, { type: 'turn.ended' }>, message: string): TurnResult {
  return {
    turnId: end.turnId,
    status: end.status,
    message,
    ...(end.error === undefined ? {} : { error: end.error }),
    ...(end.pendingInput === undefined ? {} : { pendingInput: end.pendingInput }),
  };
}

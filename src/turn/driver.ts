/**
 * The driver: asks the machine what to do, does it, and asks again. There is no second loop.
 * It ends with exactly one `turn.ended`, whatever happens inside.
 */
import {
  assertNever,
  Interrupted,
  type ModelFailure,
  type ThreadRecord,
  type TurnSettings,
  TurnwrightError,
  type UserInput,
} from '../protocol/index.js';
import { type ActiveTurn, nextStep, type Step } from './machine.js';
import { sample } from './sample.js';
import { contextItem, type TurnServices } from './services.js';
import { ToolCalls } from './tool-calls.js';

/** Drives the active turn of the log to its end. The turn must have been started (`turn.started` recorded). */
export async function driveTurn(services: TurnServices, signal: AbortSignal): Promise<void> {
  const calls = new ToolCalls(services, signal);
  try {
    for (;;) {
      signal.throwIfAborted();
      const step = nextStep(services.log.state, services.input.size > 0);
      if (step.do === 'end') {
        if (!services.input.closeIfEmpty() && step.status === 'completed') continue;
        return await endTurn(services, step);
      }
      await doStep(step, services, calls, signal);
    }
  } catch (error) {
    await endAbruptly(error, services, calls, signal);
  }
}

async function doStep(
  step: Exclude<Step, { do: 'end' }>,
  services: TurnServices,
  calls: ToolCalls,
  signal: AbortSignal,
): Promise<void> {
  switch (step.do) {
    case 'accept':
      return acceptInput(services, signal);
    case 'sample':
      return prepareAndSample(services, calls, signal);
    case 'settle':
      return calls.settle(step.calls);
    case 'stopHooks':
      return runStopHooks(services, signal);
    case 'wait':
      throw new TurnwrightError(
        'TW_INTERNAL',
        `a running turn found nothing to do in phase ${services.log.state.phase}`,
      );
    default:
      return assertNever(step);
  }
}

async function acceptInput(services: TurnServices, signal: AbortSignal): Promise<void> {
  const turn = activeTurn(services);
  for (const input of services.input.take())
    await services.log.append(
      ...(await judgedInput({ turnId: turn.id, input, settings: turn.settings, via: 'steer' }, services, signal)),
    );
}

/** The records of one input after the prompt hooks have seen it. Blocked input leaves only the word of the hook. */
export async function judgedInput(
  facts: { turnId: string; input: readonly UserInput[]; settings: TurnSettings; via: 'start' | 'steer' },
  services: Pick<TurnServices, 'ids' | 'promptHooks'>,
  signal: AbortSignal,
): Promise<readonly ThreadRecord[]> {
  const { turnId, input, via } = facts;
  const verdict = await services.promptHooks?.run(facts, signal);
  if (verdict?.block !== undefined) return [{ type: 'hooks.ran', event: 'userPrompt', block: verdict.block }];
  const contexts = (verdict?.contexts ?? []).map((text) => contextItem(services.ids, 'developer', 'hookContext', text));
  return [
    { type: 'input.accepted', turnId, item: userMessage(services, input), via },
    ...contexts.map((item) => ({ type: 'item.completed', item }) as const),
  ];
}

function userMessage(services: Pick<TurnServices, 'ids'>, content: readonly UserInput[]) {
  return { type: 'userMessage', id: services.ids.next('msg'), content } as const;
}

async function prepareAndSample(services: TurnServices, calls: ToolCalls, signal: AbortSignal): Promise<void> {
  const before = activeTurn(services);
  if (before.retryDelayMs > 0) {
    await waitForRetry(before.retryDelayMs, services, signal);
    if (services.input.size > 0) return; // it joins this attempt
  }
  const note = noteFor(before);
  if (note)
    await services.log.append({
      type: 'item.completed',
      item: contextItem(services.ids, 'developer', note.kind, note.text),
    });
  await sample(activeTurn(services), services, calls, signal);
}

/** Backs off before a retry. Input that wants to be read now ends the wait. */
async function waitForRetry(ms: number, services: TurnServices, signal: AbortSignal): Promise<void> {
  const wake = new AbortController();
  const stopListening = services.input.onCut(() => wake.abort());
  try {
    await services.clock.sleep(ms, AbortSignal.any([signal, wake.signal]));
  } catch (error) {
    if (signal.aborted || !wake.signal.aborted) throw error;
  } finally {
    stopListening();
  }
}

/** What the next request must tell the model about the one before it. */
function noteFor(turn: ActiveTurn): { kind: 'retryNote' | 'continueNote'; text: string } | undefined {
  if (turn.wasTruncated)
    return {
      kind: 'continueNote',
      text: 'Your last message was cut off by the output limit. Continue exactly where it stopped.',
    };
  if (turn.madeBeforeRetry.length === 0) return undefined;
  const list = turn.madeBeforeRetry.map((call) => `- ${call.tool} (${call.callId})`).join('\n');
  return {
    kind: 'retryNote',
    text: `The connection broke after these calls were made. They ran, and their outputs are above. Do not make them again:\n${list}`,
  };
}

async function runStopHooks(services: TurnServices, signal: AbortSignal): Promise<void> {
  const turn = activeTurn(services);
  const facts = {
    turnId: turn.id,
    settings: turn.settings,
    stopHookActive: turn.stopBlocks > 0,
    lastMessage: turn.lastMessage,
  };
  const { block } = (await services.stopHooks?.run(facts, signal)) ?? {};
  if (block === undefined) return services.log.append({ type: 'hooks.ran', event: 'stop' });
  if (turn.stopBlocks >= services.maxStopContinuations) {
    const message = `stop hooks asked to go on ${turn.stopBlocks} times in a row without a tool call in between; the turn ends here`;
    return services.log.append({ type: 'warning', message }, { type: 'hooks.ran', event: 'stop' });
  }
  await services.log.append(
    { type: 'item.completed', item: contextItem(services.ids, 'user', 'hookPrompt', block) },
    { type: 'hooks.ran', event: 'stop', block },
  );
}

async function endTurn(services: TurnServices, step: Extract<Step, { do: 'end' }>): Promise<void> {
  const turnId = activeTurn(services).id;
  const failed = step.status === 'failed' ? { error: step.error, ...pending(services.input.closeAndTake()) } : {};
  await services.log.append({ type: 'turn.ended', turnId, status: step.status, ...failed });
}

/** An interrupt, a spent time budget, or a bug: every call still gets its output before the turn ends. */
async function endAbruptly(
  error: unknown,
  services: TurnServices,
  calls: ToolCalls,
  signal: AbortSignal,
): Promise<void> {
  const { log } = services;
  const turnId = activeTurn(services).id;
  const why = signal.aborted && signal.reason instanceof Interrupted ? signal.reason.why : undefined;
  if (log.state.phase === 'sampling') await log.append({ type: 'sampling.ended', result: { ok: true, cut: true } });
  await calls.end((log.state.turn?.calls ?? []).filter((call) => !call.output));
  const given = pending(services.input.closeAndTake());
  if (why === undefined || why === 'budget') {
    const failure = why ? timeBudgetFailure(activeTurn(services)) : failureOf(error);
    return log.append({ type: 'turn.ended', turnId, status: 'failed', error: failure, ...given });
  }
  if (why === 'user')
    await log.append({ type: 'item.completed', item: contextItem(services.ids, 'user', 'turnAborted', TURN_ABORTED) });
  await log.append({ type: 'turn.ended', turnId, status: 'interrupted', reason: why, ...given });
}

/** Names the interrupt as the user's intent, so that the model does not apologise or repeat. */
const TURN_ABORTED = `<turn_aborted>
The user interrupted this turn on purpose. Commands it was running were stopped, unless they had become background sessions. A tool that was stopped may have done part of its work.
</turn_aborted>`;

function pending(input: readonly (readonly UserInput[])[]): { pendingInput?: readonly (readonly UserInput[])[] } {
  return input.length > 0 ? { pendingInput: input } : {};
}

function timeBudgetFailure(turn: ActiveTurn): ModelFailure {
  return {
    kind: 'budget',
    message: `budget exhausted: the turn used its ${turn.settings.budget.maxWallMs} ms of wall time`,
  };
}

function failureOf(error: unknown): ModelFailure {
  return { kind: 'internal', message: error instanceof Error ? error.message : String(error) };
}

function activeTurn(services: TurnServices): ActiveTurn {
  const turn = services.log.state.turn;
  if (!turn) throw new TurnwrightError('TW_INTERNAL', 'no active turn');
  return turn;
}

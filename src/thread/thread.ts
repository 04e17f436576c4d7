/**
 * A live thread: decides whether input starts or steers, owns the one active turn, and hands out events.
 * Submissions are served one at a time in order; interrupts and answers are not held up by them.
 */
import { setMaxListeners } from 'node:events';
import type { PreparedContext } from '../context/index.js';
import type { Clock, Ids } from '../lib/index.js';
import type { ModelProvider, ToolSpec } from '../model/index.js';
import {
  Interrupted,
  type Item,
  type ReviewDecision,
  type ThreadEvent,
  type ThreadRecord,
  type ThreadSettings,
  type TurnKind,
  type TurnSettings,
  TurnwrightError,
  type Usage,
  type UserInput,
} from '../protocol/index.js';
import {
  admitInput,
  contextItem,
  driveTurn,
  judgedInput,
  type PromptHooks,
  type RunToolCall,
  type StopHooks,
  type ThreadLog,
} from '../turn/index.js';
import { Inbox } from './inbox.js';
import type { Admission, ClientContext, SubmitOptions, Thread, ThreadStatus } from './port.js';
import type { WaitingTable } from './waiting.js';

/** What a thread needs from the engine. */
export interface ThreadServices {
  readonly log: ThreadLog;
  readonly clock: Clock;
  readonly ids: Ids;
  random(): number;
  provider(settings: TurnSettings): ModelProvider;
  /** Changes when any rule in force changes. */
  policyFingerprint?(): string;
  /** Context messages and warnings for a turn that is about to start. */
  prepare(settings: TurnSettings): Promise<PreparedContext>;
  /** The thread's tools; `cancelTurn` is what a cancelled approval calls. */
  tools: {
    specs(settings: TurnSettings): readonly ToolSpec[];
    /** Looks for tools that came or went; called before a turn. */
    refresh?(): Promise<void>;
    runCall(settings: TurnSettings, turnId: string, cancelTurn: () => void): RunToolCall;
    dispose(): Promise<void>;
  };
  readonly stopHooks?: StopHooks;
  readonly promptHooks?: PromptHooks;
  readonly maxStopContinuations: number;
  /** Lets go of the thread in the store. */
  close(): Promise<void>;
}

interface Active {
  readonly turnId: string;
  readonly kind: TurnKind;
  readonly settings: TurnSettings;
  readonly controller: AbortController;
  readonly inbox: Inbox;
  readonly done: Promise<void>;
}

export class LiveThread implements Thread {
  readonly id: string;
  readonly waiting: WaitingTable;
  readonly #services: ThreadServices;
  #settings: TurnSettings;
  /** Recorded with the first turn, so that a thread nobody used leaves no file. */
  #unrecordedStart: ThreadSettings | undefined;
  #active: Active | undefined;
  #failure: unknown;
  #closed = false;
  #submissions: Promise<unknown> = Promise.resolve();

  constructor(services: ThreadServices, waiting: WaitingTable, settings: TurnSettings, start?: ThreadSettings) {
    this.id = services.log.threadId;
    this.#services = services;
    this.waiting = waiting;
    this.#settings = settings;
    this.#unrecordedStart = start;
  }

  get status(): ThreadStatus {
    return this.#active ? { kind: 'active', waitingOn: this.waiting.waitingOn } : { kind: 'idle' };
  }

  get activeTurnId(): string | undefined {
    return this.#active?.turnId;
  }

  get usage(): Usage {
    return this.#services.log.state.usage;
  }

  submit(input: readonly UserInput[], options: SubmitOptions = {}): Promise<Admission> {
    if (this.#closed)
      return Promise.reject(new TurnwrightError('TW_USAGE', `thread ${this.id} is closed; resume it first`));
    const admission = this.#submissions.then(() => this.#admit(input, options));
    this.#submissions = admission.catch(() => {}); // its own caller sees the failure
    return admission;
  }

  async #admit(input: readonly UserInput[], options: SubmitOptions): Promise<Admission> {
    const active = this.#active;
    const admitted = admitInput(
      active && {
        ...active,
        id: active.turnId,
        running: !active.inbox.closed,
        hasOutputSchema: active.settings.outputSchema !== undefined,
      },
      {
        empty: input.length === 0,
        ifActive: options.ifActive ?? 'steer',
        demandsOutputSchema: options.settings?.outputSchema !== undefined,
        ...(options.expectedTurnId === undefined ? {} : { expectedTurnId: options.expectedTurnId }),
      },
    );
    switch (admitted.kind) {
      case 'refuse':
        return { kind: 'refused', refusal: admitted.refusal };
      case 'steer':
        return this.#steer(input, options);
      case 'replace':
        await this.interrupt(admitted.turnId, 'replaced');
        return this.#start(input, options);
      case 'start':
        await active?.done; // a turn past its last look still has to be recorded as ended
        return this.#start(input, options);
    }
  }

  #steer(input: readonly UserInput[], options: SubmitOptions): Admission {
    const active = this.#active!; // admitted as a steer, so there is one
    const settings = { ...this.#settings, ...options.settings };
    active.inbox.push(input, (options.delivery ?? settings.steerDelivery) === 'now');
    this.#settings = settings;
    return { kind: 'steered', turnId: active.turnId };
  }

  async #start(input: readonly UserInput[], options: SubmitOptions): Promise<Admission> {
    const { log, ids } = this.#services;
    const policyFingerprint = this.#services.policyFingerprint?.() ?? this.#settings.policyFingerprint;
    const settings = { ...this.#settings, ...options.settings, policyFingerprint };
    const turnId = ids.next('turn');
    await this.#services.tools.refresh?.();
    const context = await this.#services.prepare(settings);
    const accepted = await this.#judge(turnId, input, settings);
    await log.append(
      ...(this.#unrecordedStart ? [{ type: 'thread.started', settings: this.#unrecordedStart } as const] : []),
      ...context.warnings.map((message) => ({ type: 'warning', message }) as const),
      { type: 'turn.started', turnId, kind: 'regular', settings },
      ...context.messages.map(
        (m) => ({ type: 'item.completed', item: contextItem(ids, m.role, m.kind, m.text) }) as const,
      ),
      ...(options.context ?? []).map((one) => ({ type: 'item.completed', item: clientContext(ids, one) }) as const),
      ...accepted,
    );
    this.#unrecordedStart = undefined;
    this.#settings = settings;
    if (accepted.at(-1)?.type !== 'turn.ended') this.#drive(turnId, 'regular', settings);
    return { kind: 'started', turnId };
  }

  /** The first input's records. When a hook blocks it the turn is over before the model is asked. */
  async #judge(turnId: string, input: readonly UserInput[], settings: TurnSettings): Promise<readonly ThreadRecord[]> {
    if (input.length === 0) return [];
    const facts = { turnId, input, settings, via: 'start' } as const;
    const records = await judgedInput(facts, this.#services, new AbortController().signal);
    if (records[0]?.type !== 'hooks.ran') return records;
    return [...records, { type: 'turn.ended', turnId, status: 'completed' }];
  }

  /** Goes on with the turn that a crash left in the log. */
  continueTurn(): void {
    const turn = this.#services.log.state.turn;
    if (turn) this.#drive(turn.id, turn.kind, turn.settings);
  }

  #drive(turnId: string, kind: TurnKind, settings: TurnSettings): void {
    const controller = new AbortController();
    setMaxListeners(0, controller.signal); // one listener a running call
    const inbox = new Inbox();
    const { log, clock, ids, stopHooks, promptHooks, tools } = this.#services;
    const ended = new AbortController();
    if (settings.budget.maxWallMs !== undefined) stopAfter(settings.budget.maxWallMs, clock, controller, ended.signal);
    const services = {
      log,
      clock,
      ids,
      input: inbox,
      random: this.#services.random,
      provider: this.#services.provider(settings),
      runToolCall: tools.runCall(settings, turnId, () => controller.abort(new Interrupted('user'))),
      tools: () => tools.specs(settings),
      maxStopContinuations: this.#services.maxStopContinuations,
      ...(stopHooks ? { stopHooks } : {}),
      ...(promptHooks ? { promptHooks } : {}),
    };
    const done = driveTurn(services, controller.signal)
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        ended.abort();
        this.#active = undefined;
      });
    this.#active = { turnId, kind, settings, controller, inbox, done };
  }

  /** The log cannot be written any more: subscribers and `idle` see why. */
  #fail(error: unknown): void {
    this.#failure = error;
    this.#services.log.failSubscriptions(error);
  }

  async interrupt(turnId: string, reason = 'user'): Promise<void> {
    const active = this.#active;
    if (!active || active.turnId !== turnId) {
      const now = active ? `the active turn is ${active.turnId}` : 'no turn is active';
      throw new TurnwrightError('TW_USAGE', `cannot interrupt turn ${turnId}: ${now}`);
    }
    active.controller.abort(new Interrupted(reason));
    await active.done;
  }

  answer(approvalId: string, decision: ReviewDecision): boolean {
    return this.waiting.answerApproval(approvalId, decision);
  }

  answerQuestion(callId: string, answers: Readonly<Record<string, readonly string[]>>): boolean {
    return this.waiting.answerQuestions(callId, answers);
  }

  events(fromSeq?: number): AsyncIterable<ThreadEvent> {
    return this.#services.log.events(fromSeq);
  }

  async idle(): Promise<void> {
    await this.#submissions;
    await this.#active?.done;
    if (this.#failure !== undefined) throw this.#failure;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#submissions;
    if (this.#active) await this.interrupt(this.#active.turnId, 'shutdown');
    await this.#services.tools.dispose();
    this.#services.log.endSubscriptions();
    await this.#services.close();
  }
}

/** Codex 0.171: context that nobody vouches for travels as an output that answers no call, never as instructions. */
function clientContext(ids: Ids, { text, trusted }: ClientContext): Item {
  if (trusted) return contextItem(ids, 'developer', 'clientContext', text);
  const id = ids.next('msg');
  return { type: 'toolOutput', id, callId: '', payloadKind: 'function', outcome: { kind: 'ok', text } };
}

function stopAfter(ms: number, clock: Clock, controller: AbortController, ended: AbortSignal): void {
  clock.sleep(ms, ended).then(
    () => controller.abort(new Interrupted('budget')),
    () => {}, // the turn ended in time
  );
}

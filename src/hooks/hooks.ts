/** All hooks of a session: picks the handlers for an event, runs them side by side, folds their answers in order. */
import { type HookAnswer, readAnswer } from './answer.js';
import { compileMatcher, type Handler, type HookEvent } from './config.js';
import { runHook } from './run.js';

export interface HookSession {
  readonly sessionId: string;
  readonly transcriptPath: string | null;
  readonly env: NodeJS.ProcessEnv;
  /** `$SHELL`, or `/bin/sh`. */
  readonly shell: string;
}

/** Facts that every event carries. */
export interface HookFacts {
  readonly cwd: string;
  readonly model?: string;
  readonly permissionMode?: string;
  readonly turnId?: string;
}

export interface FoldedAnswer extends Omit<HookAnswer, 'context' | 'message' | 'error'> {
  readonly contexts: readonly string[];
  readonly messages: readonly string[];
  /** Which handler blocked: `<event>:<index>:<source>`. */
  readonly blockedBy?: string;
}

export class Hooks {
  readonly #handlers: readonly Handler[];
  readonly #session: HookSession;

  /** `handlers` are those allowed to run: trusted, managed, or all enabled ones when trust is bypassed. */
  constructor(handlers: readonly Handler[], session: HookSession) {
    this.#handlers = handlers;
    this.#session = session;
  }

  has(event: HookEvent): boolean {
    return this.#handlers.some((handler) => handler.event === event);
  }

  /** `subjects` are the names the matcher may match: the tool's name and aliases, or the source of a session. */
  async run(
    event: HookEvent,
    subjects: readonly string[],
    facts: HookFacts,
    extra: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<FoldedAnswer> {
    const picked = this.#handlers.filter((handler) => handler.event === event && matches(handler, subjects));
    const input = { ...this.#common(event, facts), ...extra };
    const options = { cwd: facts.cwd, env: this.#session.env, shell: this.#session.shell };
    const runs = picked.map((handler) => {
      const run = runHook(handler, input, options, handler.async ? new AbortController().signal : signal);
      return handler.async ? undefined : run;
    });
    return fold(
      event,
      (await Promise.all(runs)).flatMap((run, index) =>
        run ? [{ answer: readAnswer(run), handler: run.handler, index }] : [],
      ),
    );
  }

  #common(event: HookEvent, facts: HookFacts): Record<string, unknown> {
    return {
      session_id: this.#session.sessionId,
      transcript_path: this.#session.transcriptPath,
      cwd: facts.cwd,
      hook_event_name: event,
      ...(facts.model === undefined ? {} : { model: facts.model }),
      ...(facts.permissionMode === undefined ? {} : { permission_mode: facts.permissionMode }),
      ...(facts.turnId === undefined ? {} : { turn_id: facts.turnId }),
    };
  }
}

/** Events whose hooks guard something: a failing hook blocks it unless the handler says otherwise. */
const GATING: readonly HookEvent[] = ['PreToolUse', 'PermissionRequest', 'UserPromptSubmit'];

interface Answered {
  readonly answer: HookAnswer;
  readonly handler: Handler;
  readonly index: number;
}

function fold(event: HookEvent, answers: readonly Answered[]): FoldedAnswer {
  const blocks = answers
    .map((one) => ({ ...one, reason: one.answer.block ?? failClosed(event, one) }))
    .find((one) => one.reason !== undefined);
  const rewrite = answers.findLast(({ answer }) => answer.updatedInput !== undefined)?.answer.updatedInput;
  const stop = answers.find(({ answer }) => answer.stop !== undefined)?.answer.stop;
  return {
    contexts: answers.flatMap(({ answer }) => answer.context ?? []),
    messages: answers.flatMap(({ answer }) => [
      ...(answer.message ? [answer.message] : []),
      ...(answer.error ? [answer.error] : []),
    ]),
    ...(blocks?.reason === undefined
      ? {}
      : { block: blocks.reason, blockedBy: `${event.toLowerCase()}:${blocks.index}:${blocks.handler.source}` }),
    ...(!blocks && answers.some(({ answer }) => answer.allow) ? { allow: true } : {}),
    ...(rewrite === undefined ? {} : { updatedInput: rewrite }),
    ...(stop === undefined ? {} : { stop }),
  };
}

function failClosed(event: HookEvent, { answer, handler }: Answered): string | undefined {
  return answer.error !== undefined && handler.onError === 'block' && GATING.includes(event) ? answer.error : undefined;
}

function matches(handler: Handler, subjects: readonly string[]): boolean {
  const matcher = compileMatcher(handler.matcher);
  return subjects.length === 0 || subjects.some((subject) => matcher?.(subject) ?? false);
}

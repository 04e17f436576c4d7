/** A thread as the server holds it: its session, its mapper, and the questions its clients have not answered yet. */
import {
  loadSessionConfig,
  openSession,
  type Session,
  type SessionRequest,
  type Stored,
  type Thread,
  VERSION,
} from '../engine/index.js';
import type { ReviewDecision, TurnSettings } from '../protocol/index.js';
import type { ClientTools } from './client-tools.js';
import { approvalRequest, clientAnswer, questionRequest, userAnswers } from './questions.js';
import type { Reply, RpcPeer } from './rpc.js';
import { previewOf, type ThreadHistory } from './thread-history.js';
import { type Outgoing, ThreadMapper } from './thread-mapper.js';
import type { ThreadFacts } from './wire-thread.js';

export interface OpenThreadOptions {
  readonly request: SessionRequest;
  readonly peer: RpcPeer;
  readonly clientTools: ClientTools;
  /** A thread of before. */
  readonly resume?: { readonly threadId: string; readonly history: ThreadHistory; readonly name: string | undefined };
  /** The thread went idle while nobody was subscribed. */
  onUnused(thread: OpenThread): void;
}

/** Opens a session for a thread of its own, and resumes the thread when one is given. */
export async function openThread(options: OpenThreadOptions): Promise<OpenThread> {
  const { request, resume } = options;
  const session = await openSession(await loadSessionConfig(request), request);
  try {
    const { settings, engine } = session;
    const thread =
      resume === undefined
        ? await engine.start({ settings, source: 'app-server' })
        : await engine.resume(resume.threadId, { settings });
    return new OpenThread(thread, session, options);
  } catch (error) {
    await session[Symbol.asyncDispose]();
    throw error;
  }
}

export class OpenThread implements AsyncDisposable {
  readonly thread: Thread;
  readonly mapper: ThreadMapper;
  /** Settings for the next turn. */
  settings: TurnSettings;
  name: string | undefined;
  readonly #session: Session;
  readonly #options: OpenThreadOptions;
  /** What asked (an approval id, a call id) → the request's id. */
  readonly #questions = new Map<string, number>();
  readonly #reading: Promise<void>;
  #subscribed = true;
  #preview: string;
  #createdAtMs: number;
  #updatedAtMs: number;

  constructor(thread: Thread, session: Session, options: OpenThreadOptions) {
    const now = Date.now();
    this.thread = thread;
    this.settings = session.settings;
    this.name = options.resume?.name;
    this.mapper = new ThreadMapper(thread.id, thread.usage, options.clientTools.names);
    this.#session = session;
    this.#options = options;
    this.#preview = options.resume?.history.preview ?? '';
    this.#createdAtMs = options.resume?.history.createdAtMs ?? now;
    this.#updatedAtMs = options.resume?.history.updatedAtMs ?? now;
    this.#reading = this.#read(thread.events()).catch((error: unknown) => this.#failed(error));
  }

  get facts(): ThreadFacts {
    return {
      id: this.thread.id,
      settings: this.settings,
      createdAtMs: this.#createdAtMs,
      updatedAtMs: this.#updatedAtMs,
      preview: this.#preview,
      name: this.name,
      path: this.#session.threadFile(this.thread.id),
      source: 'app-server',
      version: VERSION,
      status: this.thread.status,
    };
  }

  get subscribed(): boolean {
    return this.#subscribed;
  }

  /** Its file has something to read. */
  get hasTurns(): boolean {
    return this.#options.resume !== undefined || this.mapper.turnId !== '';
  }

  /** Tells nothing more of this thread. A turn goes on; what it asks waits for the next subscription. */
  unsubscribe(): void {
    this.#subscribed = false;
    this.#dropIfUnused();
  }

  /** Tells everything from now on, and puts the open questions again. */
  subscribe(): void {
    this.#subscribed = true;
    for (const id of this.#questions.values()) this.#options.peer.askAgain(id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.thread[Symbol.asyncDispose]();
    await this.#reading;
    await this.#session[Symbol.asyncDispose]();
  }

  async #read(events: ReturnType<Thread['events']>): Promise<void> {
    for await (const event of events) {
      if (event.kind === 'record') this.#note(event.stored);
      for (const out of this.mapper.next(event)) this.#deliver(out);
    }
  }

  #note(stored: Stored): void {
    this.#updatedAtMs = stored.atMs;
    if (this.#preview === '') this.#preview = previewOf(stored) ?? '';
  }

  #failed(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const turnId = this.mapper.turnId;
    this.#notify('error', {
      threadId: this.thread.id,
      turnId,
      willRetry: false,
      error: { message, codexErrorInfo: 'other', additionalDetails: null },
    });
  }

  #notify(method: string, params: unknown): void {
    if (this.#subscribed) this.#options.peer.notify(method, params);
  }

  #deliver(out: Outgoing): void {
    const { thread } = this;
    switch (out.kind) {
      case 'notify':
        this.#notify(out.notification.method, out.notification.params);
        if (out.notification.method === 'turn/completed') this.#turnOver();
        return;
      case 'approval': {
        const { approvalId } = out.request;
        const question = approvalRequest(thread.id, out.request);
        return this.#ask(approvalId, question, (reply) => void thread.answer(approvalId, decisionOf(reply)));
      }
      case 'question': {
        const { callId } = out;
        const question = questionRequest(thread.id, out);
        return this.#ask(callId, question, (reply) => void thread.answerQuestion(callId, answersOf(reply)));
      }
      case 'clientCall': {
        const question = { method: 'item/tool/call', params: out.params };
        return this.#ask(out.callId, question, (reply) => {
          // Codex 0.171: no `serverRequest/resolved` for a call that was answered.
          this.#questions.delete(out.callId);
          this.#options.clientTools.calls.settle(out.callId, reply);
        });
      }
      case 'resolved':
        return this.#resolve(out.key);
    }
  }

  #ask(key: string, question: { method: string; params: unknown }, answer: (reply: Reply) => void): void {
    const { id, reply } = this.#options.peer.ask(question.method, question.params, this.#subscribed);
    this.#questions.set(key, id);
    void reply.then(answer); // a reply is a value, also when it is an error
  }

  #resolve(key: string): void {
    const requestId = this.#questions.get(key);
    if (requestId === undefined) return;
    this.#questions.delete(key);
    this.#options.peer.forget(requestId);
    this.#notify('serverRequest/resolved', { threadId: this.thread.id, requestId });
  }

  /** Nobody waits for what is still open: the turn ended without it. */
  #turnOver(): void {
    for (const key of [...this.#questions.keys()]) this.#resolve(key);
    void this.thread.idle().then(
      () => this.#dropIfUnused(),
      () => {}, // `#failed` has told it
    );
  }

  #dropIfUnused(): void {
    if (!this.#subscribed && this.thread.status.kind === 'idle') this.#options.onUnused(this);
  }
}

/** An error instead of an answer is no decision of a person: this call is refused with those words, and the turn goes on. */
function decisionOf(reply: Reply): ReviewDecision {
  if ('error' in reply) return { type: 'failed', reason: `approval request failed: ${reply.error.message}` };
  return (
    clientAnswer(reply.result) ?? {
      type: 'failed',
      reason: 'approval request failed: the client gave no known decision',
    }
  );
}

function answersOf(reply: Reply): Readonly<Record<string, readonly string[]>> {
  return 'result' in reply ? userAnswers(reply.result) : {};
}

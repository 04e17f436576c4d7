/** A thread as the server holds it: its session, its mapper, and the questions its clients have not answered yet. */
import { loadSessionConfig, openSession, type Session, type SessionRequest, type Thread } from '../engine/index.js';
import type { ReviewDecision, TurnSettings } from '../protocol/index.js';
import { approvalRequest, clientAnswer, questionRequest, userAnswers } from './questions.js';
import type { RpcPeer } from './rpc.js';
import { type Outgoing, ThreadMapper } from './thread-mapper.js';

export interface OpenThread extends AsyncDisposable {
  readonly thread: Thread;
  readonly session: Session;
  readonly mapper: ThreadMapper;
  /** Settings for the next turn. */
  settings: TurnSettings;
  /** Resolves once everything recorded so far was sent. */
  flushed(): Promise<void>;
}

/** Opens a session for a thread of its own, and resumes the thread when an id is given. */
export async function openThread(request: SessionRequest, peer: RpcPeer, resumeId?: string): Promise<OpenThread> {
  const session = await openSession(await loadSessionConfig(request), request);
  try {
    const { settings } = session;
    const thread =
      resumeId === undefined
        ? await session.engine.start({ settings, source: 'app-server' })
        : await session.engine.resume(resumeId, { settings });
    return watch(thread, session, peer);
  } catch (error) {
    await session[Symbol.asyncDispose]();
    throw error;
  }
}

function watch(thread: Thread, session: Session, peer: RpcPeer): OpenThread {
  const mapper = new ThreadMapper(thread.id, thread.usage);
  const questions = new Map<string, number>();
  const events = thread.events();
  const reading = (async () => {
    for await (const event of events) for (const out of mapper.next(event)) deliver(out, thread, peer, questions);
  })();
  reading.catch((error: unknown) =>
    peer.notify('error', {
      threadId: thread.id,
      willRetry: false,
      error: { message: String(error), codexErrorInfo: 'other' },
    }),
  );
  return {
    thread,
    session,
    mapper,
    settings: session.settings,
    flushed: () => new Promise((resolve) => setImmediate(resolve)),
    async [Symbol.asyncDispose]() {
      await thread[Symbol.asyncDispose]();
      await reading.catch(() => {}); // told above
      await session[Symbol.asyncDispose]();
    },
  };
}

function deliver(out: Outgoing, thread: Thread, peer: RpcPeer, questions: Map<string, number>): void {
  switch (out.kind) {
    case 'notify':
      peer.notify(out.notification.method, out.notification.params);
      if (out.notification.method === 'turn/completed') forgetAll(thread.id, peer, questions);
      return;
    case 'approval': {
      const { method, params } = approvalRequest(thread.id, out.request);
      const { id, reply } = peer.ask(method, params);
      questions.set(out.request.approvalId, id);
      void reply.then((answer) => thread.answer(out.request.approvalId, decisionOf(answer)));
      return;
    }
    case 'question': {
      const { method, params } = questionRequest(thread.id, out);
      const { id, reply } = peer.ask(method, params);
      questions.set(out.callId, id);
      void reply.then((answer) =>
        thread.answerQuestion(out.callId, 'result' in answer ? userAnswers(answer.result) : {}),
      );
      return;
    }
    case 'resolved':
      resolve(thread.id, out.key, peer, questions);
  }
}

/** An error instead of an answer is no decision of a person: this call is refused with those words, and the turn goes on. */
function decisionOf(answer: { result: unknown } | { error: { message: string } }): ReviewDecision {
  if ('error' in answer) return { type: 'failed', reason: `approval request failed: ${answer.error.message}` };
  return (
    clientAnswer(answer.result) ?? {
      type: 'failed',
      reason: 'approval request failed: the client gave no known decision',
    }
  );
}

function resolve(threadId: string, key: string, peer: RpcPeer, questions: Map<string, number>): void {
  const requestId = questions.get(key);
  if (requestId === undefined) return;
  questions.delete(key);
  peer.forget(requestId);
  peer.notify('serverRequest/resolved', { threadId, requestId });
}

/** Nobody waits for these any more: the turn was interrupted. */
function forgetAll(threadId: string, peer: RpcPeer, questions: Map<string, number>): void {
  for (const key of [...questions.keys()]) resolve(threadId, key, peer, questions);
}

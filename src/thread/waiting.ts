/**
 * Everything the thread waits for from a person, in one table: register the waiter, then record the question, then wait.
 * Exactly one answer counts; a late or unknown one is told so. An interrupt settles all of them.
 */
import { type Deferred, deferred } from '../lib/index.js';
import type { ApprovalRequest, ReviewDecision, ThreadRecord, UserQuestion } from '../protocol/index.js';

type Answers = Readonly<Record<string, readonly string[]>>;

export class WaitingTable {
  readonly #approvals = new Map<string, Deferred<ReviewDecision>>();
  readonly #questions = new Map<string, Deferred<Answers | undefined>>();
  readonly #record: (record: ThreadRecord) => Promise<void>;

  constructor(record: (record: ThreadRecord) => Promise<void>) {
    this.#record = record;
  }

  get waitingOn(): readonly ('approval' | 'userInput')[] {
    return [
      ...(this.#approvals.size > 0 ? (['approval'] as const) : []),
      ...(this.#questions.size > 0 ? (['userInput'] as const) : []),
    ];
  }

  async askApproval(request: ApprovalRequest, signal: AbortSignal): Promise<ReviewDecision> {
    const decision = await this.#wait(this.#approvals, request.approvalId, { type: 'approval.asked', request }, signal);
    await this.#record({ type: 'approval.answered', approvalId: request.approvalId, decision, by: 'user' });
    return decision;
  }

  async askQuestions(
    callId: string,
    questions: readonly UserQuestion[],
    signal: AbortSignal,
  ): Promise<Answers | undefined> {
    const answers = await this.#wait(this.#questions, callId, { type: 'question.asked', callId, questions }, signal);
    await this.#record({ type: 'question.answered', callId, answers: answers ?? null });
    return answers;
  }

  answerApproval(approvalId: string, decision: ReviewDecision): boolean {
    return settle(this.#approvals, approvalId, decision);
  }

  answerQuestions(callId: string, answers: Answers): boolean {
    return settle(this.#questions, callId, answers);
  }

  async #wait<T>(
    table: Map<string, Deferred<T>>,
    key: string,
    question: ThreadRecord,
    signal: AbortSignal,
  ): Promise<T> {
    signal.throwIfAborted();
    const waiter = deferred<T>();
    const stop = () => waiter.reject(signal.reason);
    table.set(key, waiter);
    signal.addEventListener('abort', stop, { once: true });
    try {
      const [, answer] = await Promise.all([this.#record(question), waiter.promise]);
      return answer;
    } finally {
      signal.removeEventListener('abort', stop);
      table.delete(key);
    }
  }
}

function settle<T>(table: Map<string, Deferred<T>>, key: string, value: T): boolean {
  const waiter = table.get(key);
  table.delete(key);
  waiter?.resolve(value);
  return waiter !== undefined;
}

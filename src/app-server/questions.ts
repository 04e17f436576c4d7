/** Approvals and questions on the wire, and the client's answers back. Pure. */
import { quoteArgv } from '../lib/index.js';
import type { ApprovalRequest, ReviewDecision, UserQuestion } from '../protocol/index.js';
import { commandActions } from './wire-items.js';

interface ServerRequest {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export function approvalRequest(threadId: string, request: ApprovalRequest): ServerRequest {
  const common = {
    threadId,
    turnId: request.turnId,
    itemId: request.callId,
    startedAtMs: Date.now(),
    reason: request.reason ?? null,
  };
  if (request.view.type === 'fileChange')
    return { method: 'item/fileChange/requestApproval', params: { ...common, grantRoot: null } };
  const { view } = request;
  const command =
    view.type === 'command'
      ? { command: quoteArgv(view.argv), cwd: view.cwd, commandActions: commandActions(view) }
      : { commandActions: [] };
  const amendment = request.choices.find((choice) => choice.type === 'acceptWithAmendment');
  return {
    method: 'item/commandExecution/requestApproval',
    params: {
      kind: 'command',
      ...common,
      environmentId: null,
      ...(request.attempt === 2 ? { approvalId: request.approvalId } : {}),
      ...command,
      ...(amendment ? { proposedExecpolicyAmendment: amendment.amendment.prefix } : {}),
      availableDecisions: request.choices.flatMap(wireChoice),
    },
  };
}

function wireChoice(choice: ReviewDecision): readonly unknown[] {
  switch (choice.type) {
    case 'acceptWithAmendment':
      return [{ acceptWithExecpolicyAmendment: { execpolicy_amendment: choice.amendment.prefix } }];
    case 'timedOut':
    case 'failed':
      return [];
    default:
      return [choice.type];
  }
}

/** Undefined: no decision this protocol knows. */
export function clientAnswer(result: unknown): ReviewDecision | undefined {
  const decision = objectOf(result)['decision'];
  switch (decision) {
    case 'accept':
    case 'acceptForSession':
    case 'decline':
    case 'cancel':
      return { type: decision };
    default: {
      const prefix = objectOf(objectOf(decision)['acceptWithExecpolicyAmendment'])['execpolicy_amendment'];
      const isPrefix = Array.isArray(prefix) && prefix.length > 0 && prefix.every((word) => typeof word === 'string');
      return isPrefix ? { type: 'acceptWithAmendment', amendment: { prefix } } : undefined;
    }
  }
}

export function questionRequest(
  threadId: string,
  asked: { callId: string; turnId: string; questions: readonly UserQuestion[] },
): ServerRequest {
  const questions = asked.questions.map((question) => ({ ...question, isOther: true, isSecret: false }));
  return {
    method: 'item/tool/requestUserInput',
    params: { threadId, turnId: asked.turnId, itemId: asked.callId, questions, isBlocking: true },
  };
}

export function userAnswers(result: unknown): Readonly<Record<string, readonly string[]>> {
  const answers = objectOf(objectOf(result)['answers']);
  return Object.fromEntries(
    Object.entries(answers).map(([id, given]) => {
      const list = objectOf(given)['answers'];
      return [id, Array.isArray(list) ? list.map(String) : []];
    }),
  );
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

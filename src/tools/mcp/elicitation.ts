/** A server asks the person something in the middle of its work. */
import type { CallContext } from '../../orchestrator/index.js';
import type { ApprovalPolicy } from '../../protocol/index.js';

export interface McpElicitation {
  readonly server: string;
  /** Unique per server and connection. */
  readonly requestId: string;
  readonly message: string;
  /** Fields to fill in (a JSON Schema object), or a page to open. */
  readonly ask:
    | { readonly mode: 'form'; readonly requestedSchema: unknown }
    | { readonly mode: 'url'; readonly url: string };
  /** The call it most likely belongs to: the protocol does not say. Absent while a server starts. */
  readonly call?: { readonly threadId: string; readonly turnId: string; readonly callId: string };
}

export interface McpElicitationAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  /** Values for the fields of a form. */
  readonly content?: Readonly<Record<string, string | number | boolean | string[]>>;
}

/** Puts the question to the person. A rejection counts as a decline. */
export type AskElicitation = (question: McpElicitation, signal: AbortSignal) => Promise<McpElicitationAnswer>;

/** Whether MCP servers' questions, approvals among them, may reach a person under this policy. */
export function mayAskForMcp(policy: ApprovalPolicy): boolean {
  return typeof policy === 'object' ? policy.granular.mcp_elicitations : policy !== 'never';
}

/** Questions of calls whose policy forbids to ask are declined, and so is what nobody can answer. */
export async function answerElicitation(
  question: McpElicitation,
  ask: AskElicitation | undefined,
  calls: readonly CallContext[],
  signal: AbortSignal,
): Promise<McpElicitationAnswer> {
  const forbidden = calls.length > 0 && !calls.some((call) => mayAskForMcp(call.settings.approvalPolicy));
  if (!ask || forbidden) return { action: 'decline' };
  try {
    return await ask(question, signal);
  } catch {
    return { action: signal.aborted ? 'cancel' : 'decline' };
  }
}

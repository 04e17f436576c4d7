/** Whether a person must agree to an MCP call. */
import type { ApprovalPolicy, Requirement, SandboxMode } from '../../protocol/index.js';
import { mayAskForMcp } from './elicitation.js';
import type { McpApprovalMode } from './read-servers.js';

export interface McpCallFacts {
  readonly server: string;
  readonly tool: string;
  readonly mode: McpApprovalMode;
  /** The server's own word on what the tool does. */
  readonly hints: { readonly readOnlyHint?: boolean | undefined; readonly destructiveHint?: boolean | undefined };
  readonly approvalPolicy: ApprovalPolicy;
  readonly sandboxMode: SandboxMode;
}

/**
 * Codex 0.171: a tool that says it only reads runs; any other asks, except where nothing is asked and nothing is confined
 * (`never` with full access). Under a policy that may not ask, Codex reports "user cancelled"; we name the policy.
 */
export function decideMcpRequirement(facts: McpCallFacts): Requirement {
  const { server, tool, mode, hints } = facts;
  const key = `mcp_servers.${server}.tools.${tool}.approval_mode`;
  if (mode === 'approve') return run(key);
  if (mode === 'auto' && hints.readOnlyHint === true && hints.destructiveHint !== true) return run('readOnlyHint');
  if (mode === 'auto' && facts.approvalPolicy === 'never' && facts.sandboxMode === 'danger-full-access')
    return run('never with danger-full-access');
  const why = reasonToAsk(facts);
  if (!mayAskForMcp(facts.approvalPolicy))
    return {
      kind: 'forbidden',
      reason: `needs approval, none available: ${why}, and the approval policy does not let anyone be asked; ${key} = "approve" would allow it`,
      rule: key,
    };
  // `prompt` means every time: its answer is not remembered.
  return { kind: 'needsApproval', reason: why, rule: key, ...(mode === 'prompt' ? { once: true as const } : {}) };
}

/** MCP servers run outside the sandbox, and the record of the call says so. */
function run(rule: string): Requirement {
  return { kind: 'skip', bypassSandbox: true, rule };
}

function reasonToAsk({ server, tool, mode, hints }: McpCallFacts): string {
  const subject = `tool ${tool} of MCP server ${server}`;
  if (mode === 'prompt') return `${subject} is set to ask each time`;
  if (hints.destructiveHint === true) return `${subject} says that it can destroy data`;
  return `${subject} does not say that it only reads`;
}

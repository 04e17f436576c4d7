/** One tool of a server, as a tool of the engine. */
import type { CallContext, Tool } from '../../orchestrator/index.js';
import type { ToolOutcome } from '../../protocol/index.js';
import { parseJsonArgs } from '../json-args.js';
import { decideMcpRequirement } from './decide-requirement.js';
import { mcpAborted, mcpFailure, mcpOutcome } from './result.js';
import { McpCallError, type McpServer } from './server.js';
import type { ServerTool } from './session.js';

type Arguments = Readonly<Record<string, unknown>>;

export function createMcpTool(
  server: McpServer,
  tool: ServerTool,
  options: { readonly name: string; readonly maxOutputTokens: number },
): Tool<Arguments> {
  const { config } = server;
  const mode = config.toolApprovalModes.get(tool.name) ?? config.defaultApprovalMode;
  return {
    spec: {
      name: options.name,
      description: tool.description ?? tool.title ?? `${tool.name} (MCP server ${config.name})`,
      kind: { type: 'function', parameters: { properties: {}, ...tool.inputSchema } },
    },
    accepts: ['function'],
    gateGroup: config.supportsParallelToolCalls ? 'shared' : null,
    escalation: { escalateOnFailure: false },
    parse: parseJsonArgs,
    view: (args) => ({ type: 'mcp', server: config.name, tool: tool.name, arguments: args }),
    requirement: (_args, { settings }) =>
      decideMcpRequirement({
        server: config.name,
        tool: tool.name,
        mode,
        hints: tool.annotations ?? {},
        approvalPolicy: settings.approvalPolicy,
        sandboxMode: settings.sandbox.mode,
      }),
    // The server runs outside the sandbox; an approved call is recorded as what it is.
    wantsEscalation: () => true,
    // Codex 0.171 remembers per tool, whatever the arguments.
    cacheKeys: () => [JSON.stringify(['mcp', config.name, tool.name])],
    run: (args, _attempt, context, signal) => callTool(server, tool, args, { ...options, context }, signal),
  };
}

async function callTool(
  server: McpServer,
  tool: ServerTool,
  args: Arguments,
  call: { readonly name: string; readonly maxOutputTokens: number; readonly context: CallContext },
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const startedAtMs = performance.now();
  const wallMs = () => performance.now() - startedAtMs;
  const params = { name: tool.name, arguments: { ...args } };
  // Without its output schema the SDK does not judge the result: a server's slip must not hide what it did.
  const toolDefinition = { name: tool.name, inputSchema: tool.inputSchema };
  try {
    const result = await server.request(call.context, signal, (client, options) =>
      client.callTool(params, { ...options, toolDefinition }),
    );
    return mcpOutcome(result, wallMs(), call.maxOutputTokens);
  } catch (error) {
    if (signal.aborted) return mcpAborted(wallMs(), signal.reason);
    if (error instanceof McpCallError) return mcpFailure(call.name, error);
    throw error;
  }
}

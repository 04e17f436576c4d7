/** All configured servers together: started side by side, listed as tools, ended together. */
import type { Tool } from '../../orchestrator/index.js';
import { TurnwrightError } from '../../protocol/index.js';
import { createMcpTool } from './mcp-tool.js';
import type { McpServerConfig } from './read-servers.js';
import { createResourceTools } from './resource-tools.js';
import { type McpDeps, McpServer } from './server.js';
import { inNamingOrder, ToolNames } from './tool-names.js';

export interface McpConnectionsDeps extends McpDeps {
  /** Ends every server. */
  readonly signal: AbortSignal;
  /** Budget of one result. Default 10,000. */
  readonly maxOutputTokens?: number;
}

export interface McpConnections extends AsyncDisposable {
  /**
   * The tools of the servers that are ready after at most `waitMs`; required ones are waited for in any case (their
   * start-up time limits bound it). Call it again to see servers that came up later and lists that changed.
   * @throws `TW_MCP_SERVER` when a required server cannot be used.
   */
  tools(waitMs: number): Promise<readonly Tool[]>;
  /** What did not go as configured so far, a sentence each, always in the same words. */
  warnings(): readonly string[];
}

/** Returns at once; the servers start in the background. */
export function startMcpServers(configs: readonly McpServerConfig[], deps: McpConnectionsDeps): McpConnections {
  const servers = configs.map((config) => new McpServer(config, deps, deps.signal));
  const names = new ToolNames();
  const maxOutputTokens = deps.maxOutputTokens ?? 10_000;
  const running = () => servers.filter((server) => server.failure === undefined);
  const resourceTools = createResourceTools({ servers: running, maxOutputTokens });
  return {
    async tools(waitMs) {
      await waitFor(Promise.all(servers.map((server) => server.started)), waitMs, deps.signal);
      for (const server of servers) if (server.config.required) await requireStarted(server);
      const tools = servers.flatMap((server) => toolsOf(server, names, maxOutputTokens));
      return running().length > 0 ? [...tools, ...resourceTools] : tools;
    },
    warnings: () => servers.flatMap(warningsOf),
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

/** In an order of our own, so that requests share their prefix whatever order a server lists its tools in. */
function toolsOf(server: McpServer, names: ToolNames, maxOutputTokens: number): Tool[] {
  const byName = new Map(server.tools.map((tool) => [tool.name, tool]));
  return inNamingOrder([...byName.keys()]).map((toolName) => {
    const name = names.nameOf(server.config.name, toolName);
    return createMcpTool(server, byName.get(toolName)!, { name, maxOutputTokens }) as Tool;
  });
}

function warningsOf(server: McpServer): string[] {
  const { name } = server.config;
  if (server.failure !== undefined) return [`MCP server "${name}" is not available: ${server.failure}`];
  return server.missingTools.map(
    (tool) => `MCP server "${name}" has no tool \`${tool}\`, which mcp_servers.${name}.enabled_tools names`,
  );
}

async function requireStarted(server: McpServer): Promise<void> {
  await server.started;
  if (server.failure === undefined) return;
  const { name } = server.config;
  throw new TurnwrightError(
    'TW_MCP_SERVER',
    `MCP server "${name}" is required and cannot be used: ${server.failure}; mend it, or set mcp_servers.${name}.required = false`,
    { facts: { server: name } },
  );
}

async function waitFor(work: Promise<unknown>, waitMs: number, signal: AbortSignal): Promise<void> {
  if (waitMs <= 0 || signal.aborted) return;
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<void>((resolve) => {
    timer = Number.isFinite(waitMs) ? setTimeout(resolve, waitMs) : undefined;
  });
  await Promise.race([work, timeUp]);
  clearTimeout(timer);
}

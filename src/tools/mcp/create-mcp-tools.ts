/** The one call a host makes: configuration in, tools out. */
import type { Tool } from '../../orchestrator/index.js';
import { type McpConnectionsDeps, startMcpServers } from './connections.js';
import { readMcpServers } from './read-servers.js';

export interface McpToolsDeps extends Omit<McpConnectionsDeps, 'signal'> {
  readonly signal?: AbortSignal;
  /**
   * How long `tools()` waits for servers that are still starting, in milliseconds. Default: until each has started or
   * failed, which their start-up time limits bound. With less, tools of slow servers are there from a later `tools()` on.
   */
  readonly waitMs?: number;
}

export interface McpTools extends AsyncDisposable {
  tools(): Promise<readonly Tool[]>;
  warnings(): readonly string[];
}

/**
 * Starts the servers of `[mcp_servers]` (`rawConfig`, as written) and offers their tools.
 *
 * - Returns at once. Without servers nothing is loaded, started or offered, so call it whether or not there are any.
 * - `tools()`: call it before each request (or once per thread) and put the result behind the built-in tools. It
 *   rejects with `TW_MCP_SERVER` when a required server cannot be used: the thread should not start then.
 * - `warnings()`: show new ones before a turn; a text never changes.
 * - `deps.env` is where `env_vars`, tokens and the core variables come from. `deps.elicit` puts servers' questions to the
 *   person; without it they are declined.
 * - Dispose to end all servers with everything they started. `deps.signal` does so, too, without waiting for it.
 *
 * Approvals are the orchestrator's: each tool says what it needs. The servers themselves run outside the sandbox.
 * @throws `TW_CONFIG_VALUE` when the configuration has a value of the wrong type.
 */
export function createMcpTools(rawConfig: unknown, deps: McpToolsDeps): McpTools {
  const { servers, warnings } = readMcpServers(rawConfig);
  const { signal = new AbortController().signal, waitMs = Number.POSITIVE_INFINITY, ...rest } = deps;
  const connections = startMcpServers(servers, { ...rest, signal });
  return {
    tools: () => connections.tools(waitMs),
    warnings: () => [...warnings, ...connections.warnings()],
    [Symbol.asyncDispose]: () => connections[Symbol.asyncDispose](),
  };
}

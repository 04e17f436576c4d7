/** MCP servers as real programs, and calls to their tools as the orchestrator makes them. */
import path from 'node:path';
import type { CallContext, Tool } from '../../src/orchestrator/index.js';
import type { ToolOutcome, TurnSettings } from '../../src/protocol/index.js';
import { createPlainBackend } from '../../src/sandbox/index.js';
import { testSettings } from '../../src/testing/index.js';
import { createMcpTools, type McpTools, type McpToolsDeps } from '../../src/tools/mcp/index.js';

const HERE = import.meta.dirname;
const ECHO = path.join(HERE, '../conformance/exec-json/aux/mcp-echo.mjs');
const ODD = path.join(HERE, 'fixtures/mcp-server.mjs');

/** The server of the recordings. */
export const echoServer = { command: process.execPath, args: [ECHO] };

export function oddServer(flags: readonly string[] = [], settings: object = {}) {
  return { command: process.execPath, args: [ODD, ...flags], ...settings };
}

export interface McpHarness extends AsyncDisposable {
  readonly mcp: McpTools;
  names(): Promise<string[]>;
  tool(name: string): Promise<Tool>;
  run(name: string, args?: object, options?: { signal?: AbortSignal; settings?: TurnSettings }): Promise<ToolOutcome>;
}

export function mcpHarness(servers: object, deps: Partial<McpToolsDeps> = {}): McpHarness {
  const mcp = createMcpTools(servers, { env: process.env, cwd: HERE, ...deps });
  const tool = async (name: string) => {
    const tools = await mcp.tools();
    const found = tools.find((one) => one.spec.name === name);
    if (!found) throw new Error(`no tool ${name}: ${tools.map((one) => one.spec.name).join(', ')}`);
    return found;
  };
  return {
    mcp,
    tool,
    names: async () => (await mcp.tools()).map((one) => one.spec.name),
    async run(name, args = {}, { signal = new AbortController().signal, settings = testSettings('/w') } = {}) {
      const found = await tool(name);
      const context = callContext(name, settings);
      const parsed = await found.parse({ kind: 'function', arguments: JSON.stringify(args) }, context);
      const attempt = { number: 1, sandbox: settings.sandbox, backend: createPlainBackend() } as const;
      return (await found.run(parsed, attempt, context, signal)) as ToolOutcome; // an MCP tool never reports a denial
    },
    [Symbol.asyncDispose]: () => mcp[Symbol.asyncDispose](),
  };
}

export function callContext(tool: string, settings: TurnSettings): CallContext {
  return {
    threadId: 'thread_1',
    turnId: 'turn_1',
    callId: 'call_1',
    tool,
    payloadKind: 'function',
    settings,
    emit: () => {},
    record: async () => {},
  };
}

/** The tool's own text, below the head with the wall time. */
export function toolText(outcome: ToolOutcome): string {
  return outcome.text.replace(/^Wall time: \d+\.\d{4} seconds\nOutput:\n/, '');
}

/** A tool made of a function, for tests and small embeddings. */
import { ArgumentError, type CallContext, type Tool } from '../orchestrator/index.js';
import type { Requirement, ToolOutcome, ToolPayload } from '../protocol/index.js';

export interface TestToolOptions {
  readonly name: string;
  readonly gateGroup?: string | null;
  requirement?(args: Record<string, unknown>, context: CallContext): Requirement;
  run(args: Record<string, unknown>, context: CallContext, signal: AbortSignal): Promise<ToolOutcome> | ToolOutcome;
}

export function testTool(options: TestToolOptions): Tool<Record<string, unknown>> {
  return {
    spec: {
      name: options.name,
      description: `${options.name} (test)`,
      kind: { type: 'function', parameters: { type: 'object' } },
    },
    accepts: ['function'],
    gateGroup: options.gateGroup === undefined ? 'shared' : options.gateGroup,
    escalation: { escalateOnFailure: false },
    parse: parseArgs,
    view: () => ({ type: 'other', tool: options.name }),
    cacheKeys: (args) => [`${options.name} ${JSON.stringify(args)}`],
    ...(options.requirement ? { requirement: options.requirement } : {}),
    run: async (args, _attempt, context, signal) => options.run(args, context, signal),
  };
}

function parseArgs(payload: ToolPayload): Record<string, unknown> {
  try {
    return JSON.parse(payload.kind === 'function' ? payload.arguments : payload.input) as Record<string, unknown>;
  } catch (error) {
    throw new ArgumentError(`failed to parse function arguments: ${error instanceof Error ? error.message : error}`);
  }
}

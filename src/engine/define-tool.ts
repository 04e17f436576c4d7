/** The short way to a tool: a name, a schema and a function. `Tool` is the long one, with everything a tool may say. */
import { ArgumentError, type CallContext, type Tool } from '../orchestrator/index.js';
import type { Requirement, ToolOutcome, ToolPayload } from '../protocol/index.js';

export type ToolArguments = Readonly<Record<string, unknown>>;

export interface ToolDefinition {
  /** Letters, digits, `_` and `-`, at most 64. Not the name of a built-in tool. */
  readonly name: string;
  /** For the model: what it does, and when to use it. */
  readonly description: string;
  /** JSON Schema of the arguments: an object. The model sees it; `run` still has to check what arrives. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** May run beside commands and other such tools. Default false: it runs alone. */
  readonly parallel?: boolean;
  /** Whether somebody is asked first. Default: nobody. The tool runs in this process, never in the sandbox. */
  requirement?(args: ToolArguments, context: CallContext): Requirement | Promise<Requirement>;
  /** A text is success. An exception is told to the model as a failure, and the turn goes on. */
  run(
    args: ToolArguments,
    context: CallContext,
    signal: AbortSignal,
  ): string | ToolOutcome | Promise<string | ToolOutcome>;
}

export function defineTool(definition: ToolDefinition): Tool<ToolArguments> {
  const { name, description, parameters } = definition;
  return {
    spec: { name, description, kind: { type: 'function', parameters } },
    accepts: ['function'],
    gateGroup: definition.parallel ? 'shared' : null,
    escalation: { escalateOnFailure: false },
    parse: (payload) => parseArguments(name, payload),
    view: () => ({ type: 'other', tool: name }),
    cacheKeys: (args) => [`${name} ${JSON.stringify(args)}`],
    requirement: async (args, context) =>
      (await definition.requirement?.(args, context)) ?? { kind: 'skip', bypassSandbox: false },
    run: (args, _attempt, context, signal) => runDefined(definition, args, context, signal),
  };
}

async function runDefined(
  definition: ToolDefinition,
  args: ToolArguments,
  context: CallContext,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  try {
    const result = await definition.run(args, context, signal);
    return typeof result === 'string' ? { kind: 'ok', text: result } : result;
  } catch (error) {
    if (signal.aborted || error instanceof ArgumentError) throw error;
    return { kind: 'failed', text: `${definition.name} failed: ${error instanceof Error ? error.message : error}` };
  }
}

function parseArguments(name: string, payload: ToolPayload): ToolArguments {
  let value: unknown;
  try {
    value = JSON.parse(payload.kind === 'function' ? payload.arguments || '{}' : payload.input);
  } catch (error) {
    throw new ArgumentError(`failed to parse arguments of ${name}: ${error instanceof Error ? error.message : error}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ArgumentError(`the arguments of ${name} must be a JSON object`);
  return value as ToolArguments;
}

/**
 * Where an error goes. What the model can act on becomes an output of the call; only a broken frame (a crashed tool task,
 * `FatalToolError`) goes on to fail the turn. This is the only place that decides it.
 */
import { ArgumentError } from '../orchestrator/index.js';
import { type ToolOutcome, type ToolPayload, TurnwrightError } from '../protocol/index.js';

/** Codex 0.171 words it the same way. */
export function unknownTool(name: string): ToolOutcome {
  return { kind: 'failed', text: `unsupported call: ${name}` };
}

export function wrongPayload(
  tool: string,
  accepts: readonly ToolPayload['kind'][],
  got: ToolPayload['kind'],
): ToolOutcome {
  const form = (kind: ToolPayload['kind']) =>
    kind === 'function' ? 'a function call with JSON arguments' : 'a freeform call with plain text';
  const text = `${tool} was called as ${form(got)}, but expects ${accepts.map(form).join(' or ')}. Call it again that way.`;
  return { kind: 'failed', text };
}

export function blockedByHook(tool: string, reason: string, command: string | undefined): ToolOutcome {
  const text =
    command === undefined
      ? `Tool call blocked by PreToolUse hook: ${reason}. Tool: ${tool}`
      : `Command blocked by PreToolUse hook: ${reason}. Command: ${command}`;
  return { kind: 'rejected', by: 'hook', text, decision: { by: 'hook', reason } };
}

/** The outcome of an error the model can act on; undefined for one that broke the frame. */
export function outcomeOfError(tool: string, error: unknown): ToolOutcome | undefined {
  if (error instanceof ArgumentError) return { kind: 'failed', text: error.message };
  if (error instanceof TurnwrightError && error.code === 'TW_SANDBOX_UNAVAILABLE')
    return {
      kind: 'rejected',
      by: 'sandbox',
      text: `${tool} rejected: ${error.message}`,
      decision: { by: 'policy', reason: error.message },
    };
  if (error instanceof TurnwrightError && error.code !== 'TW_INTERNAL')
    return { kind: 'failed', text: `${tool} failed: ${error.message}` };
  return undefined;
}

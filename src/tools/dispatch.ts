/**
 * One tool call through its five gates: exists → payload fits → pre-tool hook → run (through the orchestrator) →
 * post-tool hook. Its place at the sharing gate is taken before the hooks, so that calls pass in the order they were made.
 */
import type { GroupLock } from '../lib/index.js';
import {
  type CallContext,
  type OrchestratorServices,
  RedirectedCall,
  runCall,
  type Tool,
} from '../orchestrator/index.js';
import type { ToolCallItem, ToolOutcome, ToolPayload } from '../protocol/index.js';
import { blockedByHook, outcomeOfError, unknownTool, wrongPayload } from './outcome.js';
import type { ToolRegistry } from './registry.js';

/** Hooks around a tool. Their config and processes live elsewhere. */
export interface ToolHooks {
  preTool(facts: HookFacts, signal: AbortSignal): Promise<{ block?: string; payload?: ToolPayload }>;
  postTool(facts: HookFacts & { outcome: ToolOutcome }, signal: AbortSignal): Promise<{ replaceText?: string }>;
}

export interface HookFacts {
  readonly tool: string;
  readonly context: CallContext;
  readonly payload: ToolPayload;
}

export interface DispatchServices {
  readonly registry: ToolRegistry;
  readonly gate: GroupLock;
  readonly orchestrator: OrchestratorServices;
  readonly hooks?: ToolHooks;
  /** The model was offered freeform tools as such; then the JSON form of one is a mistake it is told about. */
  readonly customTools: boolean;
}

/** An outcome, and what the model sees instead of its text when a post-tool hook replaced it. */
export interface CallResult {
  readonly outcome: ToolOutcome;
  readonly modelText?: string;
}

/** Rejects only when the frame broke or the turn was interrupted before the tool could say so itself. */
export async function dispatch(
  call: ToolCallItem,
  context: CallContext,
  services: DispatchServices,
  signal: AbortSignal,
): Promise<CallResult> {
  const name = flatName(call);
  const found = services.registry.find(name, call.payload);
  if (!found) return { outcome: unknownTool(name) };
  const { tool } = found;
  const accepts = services.customTools && tool.spec.kind.type === 'custom' ? CUSTOM_ONLY : tool.accepts;
  if (!accepts.includes(found.payload.kind))
    return { outcome: wrongPayload(tool.spec.name, accepts, found.payload.kind) };
  // The place in line is taken before anything waits, so that calls pass the gate in the order the model made them.
  const release = await services.gate.acquire(tool.gateGroupOf?.(found.payload) ?? tool.gateGroup, signal);
  try {
    return await runWithHooks(tool, found.payload, context, services, signal);
  } finally {
    release();
  }
}

async function runWithHooks(
  tool: Tool,
  given: ToolPayload,
  context: CallContext,
  services: DispatchServices,
  signal: AbortSignal,
): Promise<CallResult> {
  const before = await services.hooks?.preTool({ tool: tool.spec.name, context, payload: given }, signal);
  if (before?.block !== undefined) return { outcome: blockedByHook(tool.spec.name, before.block, commandOf(given)) };
  const payload = before?.payload ?? given;
  const outcome = await runParsed(tool, payload, context, services, signal);
  if (outcome.kind === 'rejected' || outcome.kind === 'aborted' || !services.hooks) return { outcome };
  const after = await services.hooks.postTool({ tool: tool.spec.name, context, payload, outcome }, signal);
  return after.replaceText === undefined ? { outcome } : { outcome, modelText: after.replaceText };
}

async function runParsed(
  tool: Tool,
  payload: ToolPayload,
  context: CallContext,
  services: DispatchServices,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  try {
    const args = await tool.parse(payload, context);
    if (args instanceof RedirectedCall) return await runRedirected(args, context, services, signal);
    return await runCall(tool, args, context, services.orchestrator, signal);
  } catch (error) {
    const outcome = signal.aborted ? undefined : outcomeOfError(tool.spec.name, error);
    if (!outcome) throw error;
    return outcome;
  }
}

/** A call that turns out to be another tool's (a patch inside a shell script) runs as that tool. */
async function runRedirected(
  to: RedirectedCall,
  context: CallContext,
  services: DispatchServices,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const found = services.registry.find(to.tool, to.payload);
  if (!found) return unknownTool(to.tool);
  const settings = to.cwd ? { ...context.settings, cwd: to.cwd } : context.settings;
  const outcome = await runParsed(found.tool, found.payload, { ...context, tool: to.tool, settings }, services, signal);
  return outcome.kind === 'ok' ? { ...outcome, text: to.outputPrefix + outcome.text } : outcome;
}

const CUSTOM_ONLY: readonly ToolPayload['kind'][] = ['custom'];

/** The name a call goes by in the registry: MCP tools arrive as namespace and name. */
export function flatName(call: ToolCallItem): string {
  return call.namespace ? `${call.namespace}__${call.tool}` : call.tool;
}

function commandOf(payload: ToolPayload): string | undefined {
  if (payload.kind === 'custom') return undefined;
  try {
    const args: unknown = JSON.parse(payload.arguments);
    return typeof args === 'object' && args !== null && 'cmd' in args ? String(args.cmd) : undefined;
  } catch {
    return undefined;
  }
}

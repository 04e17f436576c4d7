/** Items as the app-server protocol shows them. Pure; wire names live here only. */
import { quoteArgv } from '../lib/index.js';
import type {
  CommandAction,
  FileChange,
  Item,
  ItemOf,
  ModelFailure,
  OutputContent,
  ToolCallItem,
  ToolOutcome,
  ToolView,
  Usage,
  UserInput,
} from '../protocol/index.js';
import type { ClientToolName } from './client-tools.js';

export type WireItem = Readonly<Record<string, unknown>> & { readonly id: string; readonly type: string };

export function userMessage(item: ItemOf<'userMessage'>): WireItem {
  return { type: 'userMessage', id: item.id, content: item.content.map(wireInput) };
}

function wireInput(input: UserInput): unknown {
  return input.type === 'text' ? { type: 'text', text: input.text, text_elements: [] } : input;
}

export function agentMessage(id: string, text: string, phase?: string): WireItem {
  return { type: 'agentMessage', id, text, phase: phase ?? null };
}

export function reasoning(id: string, summary: readonly string[], content: readonly string[] = []): WireItem {
  return { type: 'reasoning', id, summary, content };
}

/** A finished item of the model; undefined for what clients do not see as an item of its own. */
export function modelItem(item: Item): WireItem | undefined {
  if (item.type === 'agentMessage')
    return { ...agentMessage(item.id, item.text, item.phase), ...(item.incomplete ? { status: 'cut' } : {}) };
  if (item.type === 'reasoning') return reasoning(item.id, item.summary, item.text === undefined ? [] : [item.text]);
  if (item.type === 'hostedCall') return webSearch(item);
  if (item.type === 'context' && item.kind === 'hookPrompt')
    return { type: 'hookPrompt', id: item.id, fragments: [hookFragment(item.text)] };
  return undefined;
}

const SEARCH_ACTIONS: Readonly<Record<string, string>> = {
  search: 'search',
  open_page: 'openPage',
  find_in_page: 'findInPage',
};

function webSearch({ id, raw }: ItemOf<'hostedCall'>): WireItem {
  const given = typeof raw['action'] === 'object' && raw['action'] !== null ? raw['action'] : {};
  const action: Readonly<Record<string, unknown>> = { ...given };
  const text = (key: string) => (typeof action[key] === 'string' ? { [key]: action[key] } : {});
  const type = SEARCH_ACTIONS[String(action['type'])] ?? 'other';
  const query = typeof action['query'] === 'string' ? action['query'] : '';
  return { type: 'webSearch', id, query, action: { type, ...text('query'), ...text('url'), ...text('pattern') } };
}

/** The model reads the reason in a tag that names the hook's run; clients get both apart. */
function hookFragment(text: string): unknown {
  const tagged = /^<hook_prompt hook_run_id="([^"]*)">([\s\S]*)<\/hook_prompt>$/.exec(text);
  return { text: tagged?.[2] ?? text, hookRunId: tagged?.[1] ?? 'stop' };
}

/** The item of a tool call at its start. Undefined: the call has no item (plans have a notification of their own). */
export function toolStart(callId: string, view: ToolView): WireItem | undefined {
  switch (view.type) {
    case 'command':
      return commandItem(callId, view, {
        status: 'inProgress',
        processId: null,
        aggregatedOutput: null,
        exitCode: null,
        durationMs: null,
      });
    case 'fileChange':
      return { type: 'fileChange', id: callId, changes: view.changes.map(wireChange), status: 'inProgress' };
    case 'mcp':
      return {
        type: 'mcpToolCall',
        id: callId,
        server: view.server,
        tool: view.tool,
        status: 'inProgress',
        arguments: view.arguments,
        result: null,
        error: null,
        durationMs: null,
      };
    default: // an image shows only once it was read
      return undefined;
  }
}

/** Where nobody summarised the command, it is shown whole. */
export function commandActions(view: Extract<ToolView, { type: 'command' }>): readonly CommandAction[] {
  return view.actions ?? [{ type: 'unknown', command: quoteArgv(view.argv) }];
}

/** The item of a call that the client runs; without an outcome it has just begun. */
export function clientToolItem(
  call: ToolCallItem,
  name: ClientToolName,
  end?: { readonly outcome: ToolOutcome; readonly durationMs: number },
): WireItem {
  const outcome = end?.outcome;
  const contentItems = outcome
    ? outcome.kind !== 'ok' && outcome.kind !== 'failed'
      ? undefined
      : outcome.content
    : undefined;
  return {
    type: 'dynamicToolCall',
    id: call.callId,
    ...name,
    arguments: callArguments(call),
    status: outcome === undefined ? 'inProgress' : outcome.kind === 'ok' ? 'completed' : 'failed',
    contentItems: outcome ? (contentItems ?? [{ type: 'text', text: outcome.text } as const]).map(wireContent) : null,
    success: outcome ? outcome.kind === 'ok' : null,
    durationMs: end?.durationMs ?? null,
  };
}

function wireContent(part: OutputContent): unknown {
  return part.type === 'text' ? { type: 'inputText', text: part.text } : { type: 'inputImage', imageUrl: part.url };
}

/** Parsed; the text itself when it is no JSON. */
export function callArguments({ payload }: ToolCallItem): unknown {
  if (payload.kind === 'custom') return payload.input;
  try {
    return JSON.parse(payload.arguments || '{}');
  } catch {
    return payload.arguments;
  }
}

function commandItem(
  callId: string,
  view: Extract<ToolView, { type: 'command' }>,
  rest: Record<string, unknown>,
): WireItem {
  return {
    type: 'commandExecution',
    id: callId,
    command: quoteArgv(view.argv),
    cwd: view.cwd,
    source: 'unifiedExecStartup',
    commandActions: commandActions(view),
    ...rest,
  };
}

/** The same item when the call is over. */
export function toolEnd(callId: string, view: ToolView, outcome: ToolOutcome): WireItem | undefined {
  if (view.type === 'image')
    return outcome.kind === 'ok' ? { type: 'imageView', id: callId, path: view.path } : undefined;
  const start = toolStart(callId, view);
  if (!start) return undefined;
  const status = wireStatus(outcome);
  const extra = {
    outcome: outcome.kind,
    ...(outcome.kind === 'rejected' && outcome.decision ? { decision: outcome.decision } : {}),
  };
  const report = outcome.report;
  if (view.type === 'command' && report?.type === 'command') {
    const aggregatedOutput = report.output ?? outcome.text.slice(report.outputAt ?? 0);
    return {
      ...start,
      status,
      aggregatedOutput,
      exitCode: report.exitCode,
      durationMs: report.durationMs,
      processId: report.sessionId === undefined ? null : String(report.sessionId),
      ...extra,
    };
  }
  if (view.type === 'mcp')
    return {
      ...start,
      status: status === 'declined' ? 'failed' : status, // the protocol has no word for a refused call of a server
      ...(report?.type === 'mcp'
        ? { result: report.result, error: report.error === null ? null : { message: report.error } }
        : {}),
      ...extra,
    };
  return { ...start, status, ...extra };
}

/** A command that became a session is still in progress; its end is told later. */
export function isStillRunning(outcome: ToolOutcome): boolean {
  return outcome.kind === 'ok' && outcome.report?.type === 'command' && outcome.report.sessionId !== undefined;
}

function wireStatus(outcome: ToolOutcome): string {
  if (outcome.kind === 'ok') return 'completed';
  return outcome.kind === 'rejected' ? 'declined' : 'failed';
}

/** A call that never got a view (unknown tool, arguments that cannot be read, refused by a hook) still has an item. */
export function viewOfCall(call: ToolCallItem, cwd: string): ToolView | undefined {
  if (call.payload.kind !== 'function')
    return call.tool === 'apply_patch' ? { type: 'fileChange', changes: [] } : undefined;
  const script = call.tool === 'exec_command' ? scriptOf(call.payload.arguments) : undefined;
  return script === undefined ? undefined : { type: 'command', argv: [script], cwd };
}

function scriptOf(text: string): string | undefined {
  try {
    const { cmd } = JSON.parse(text) as { cmd?: unknown };
    return typeof cmd === 'string' ? cmd : undefined;
  } catch {
    return undefined;
  }
}

function wireChange(change: FileChange): unknown {
  const kind =
    change.kind === 'update' ? { type: 'update', move_path: change.movePath ?? null } : { type: change.kind };
  return { path: change.path, kind, diff: change.diff ?? '' };
}

export function wireUsage(usage: Usage): unknown {
  const { totalTokens, inputTokens, cachedInputTokens, outputTokens, reasoningOutputTokens } = usage;
  return { totalTokens, inputTokens, cachedInputTokens, outputTokens, reasoningOutputTokens };
}

/** The error kind of the protocol for a failure (turn-engine table of Codex 0.171). */
export function errorInfo(failure: ModelFailure): unknown {
  const httpStatusCode = failure.httpStatus ?? null;
  switch (failure.kind) {
    case 'serverError':
      return failure.httpStatus === undefined
        ? { responseStreamDisconnected: { httpStatusCode } }
        : 'internalServerError';
    case 'rateLimited':
      return { responseTooManyFailedAttempts: { httpStatusCode } };
    case 'usageLimit':
      return 'usageLimitExceeded';
    case 'unauthorized':
      return 'unauthorized';
    case 'modelNotFound':
      return 'modelNotFound';
    case 'contextFull':
      return 'contextWindowExceeded';
    case 'connection':
      return { httpConnectionFailed: { httpStatusCode } };
    default:
      return 'other';
  }
}

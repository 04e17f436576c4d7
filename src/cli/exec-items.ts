/** The items of `exec --json`, and how calls, outcomes and reports become items. Pure. */
import { quoteArgv } from '../lib/index.js';
import type { Decision, FileChange, Item, PlanStep, ToolOutcome, ToolView } from '../protocol/index.js';

type Status = 'in_progress' | 'completed' | 'failed' | 'declined';

interface Change {
  readonly path: string;
  readonly kind: FileChange['kind'];
}

export type ExecItemBody =
  | { readonly type: 'agent_message' | 'reasoning'; readonly text: string }
  | { readonly type: 'error'; readonly message: string }
  | {
      readonly type: 'command_execution';
      /** The argv as one shell line. */
      readonly command: string;
      readonly aggregated_output: string;
      /** Null while it runs; -1 when it never started. */
      readonly exit_code: number | null;
      readonly status: Status;
      readonly decision?: WireDecision;
    }
  | {
      readonly type: 'file_change';
      /** Sorted by path. A move is one update of the old path. */
      readonly changes: readonly Change[];
      readonly status: Status;
      readonly decision?: WireDecision;
    }
  | {
      readonly type: 'mcp_tool_call';
      readonly server: string;
      readonly tool: string;
      readonly arguments: unknown;
      readonly result: { readonly content: unknown; readonly structured_content: unknown } | null;
      readonly error: { readonly message: string } | null;
      readonly status: Status;
      readonly decision?: WireDecision;
    }
  | { readonly type: 'web_search'; readonly query: string; readonly action: Readonly<Record<string, unknown>> }
  | { readonly type: 'todo_list'; readonly items: readonly { readonly text: string; readonly completed: boolean }[] };

export type ExecItem = ExecItemBody & { readonly id: string };

/** Who refused a call, by which rule, and why. Ours: the recorded program shows no item for a refused call. */
export interface WireDecision {
  readonly by: string;
  readonly rule?: string;
  readonly reason: string;
}

/** Undefined: the call has no item on this wire (input to a running command, plans, images). */
export function startToolItem(view: ToolView): ExecItemBody | undefined {
  switch (view.type) {
    case 'command':
      return {
        type: 'command_execution',
        command: quoteArgv(view.argv),
        aggregated_output: '',
        exit_code: null,
        status: 'in_progress',
      };
    case 'fileChange':
      return { type: 'file_change', changes: wireChanges(view.changes), status: 'in_progress' };
    case 'mcp':
      return {
        type: 'mcp_tool_call',
        server: view.server,
        tool: view.tool,
        arguments: view.arguments,
        result: null,
        error: null,
        status: 'in_progress',
      };
    default:
      return undefined;
  }
}

export function completeToolItem(started: ExecItemBody, outcome: ToolOutcome): ExecItemBody {
  const { report } = outcome;
  const status: Status = outcome.kind === 'ok' ? 'completed' : outcome.kind === 'rejected' ? 'declined' : 'failed';
  const decision = outcome.kind === 'rejected' ? { decision: wireDecision(outcome) } : {};
  switch (started.type) {
    case 'command_execution': {
      const exitCode = report?.type === 'command' ? report.exitCode : null;
      return {
        ...started,
        aggregated_output: commandOutput(outcome),
        exit_code: exitCode ?? (outcome.kind === 'failed' ? -1 : null),
        status: exitCode !== null && exitCode !== 0 ? 'failed' : status,
        ...decision,
      };
    }
    case 'file_change':
      return {
        ...started,
        ...(report?.type === 'fileChange' && report.changes.length > 0 ? { changes: wireChanges(report.changes) } : {}),
        status,
        ...decision,
      };
    case 'mcp_tool_call':
      return { ...started, ...mcpResult(outcome), status, ...decision };
    default:
      return started;
  }
}

/** A refused call that never started has only what the model wrote. */
export function declinedItem(
  call: Extract<Item, { type: 'toolCall' }>,
  outcome: Extract<ToolOutcome, { kind: 'rejected' }>,
): ExecItemBody {
  const decision = wireDecision(outcome);
  if (call.tool === 'apply_patch')
    return { type: 'file_change', changes: changesOf(outcome), status: 'declined', decision };
  const mcp = /^mcp__(.+)$/.exec(call.namespace ?? '');
  const args = parsedArguments(call);
  if (mcp) {
    const named = { server: mcp[1]!, tool: call.tool, arguments: args };
    return { type: 'mcp_tool_call', ...named, result: null, error: null, status: 'declined', decision };
  }
  const command = commandText(args) ?? call.tool;
  return { type: 'command_execution', command, aggregated_output: '', exit_code: null, status: 'declined', decision };
}

export function todoItem(steps: readonly PlanStep[]): ExecItemBody {
  const items = steps.map((step) => ({ text: step.step, completed: step.status === 'completed' }));
  return { type: 'todo_list', items };
}

/** `raw` is the provider's own item. The query is what a person would call the search, whatever the action was. */
export function searchItem(raw: Readonly<Record<string, unknown>>): ExecItemBody {
  const action = asRecord(raw['action']) ?? { type: 'other' };
  return { type: 'web_search', query: searchQuery(action), action };
}

function searchQuery(action: Readonly<Record<string, unknown>>): string {
  const text = (key: string) => (typeof action[key] === 'string' ? action[key] : '');
  switch (action['type']) {
    case 'search': {
      const queries = Array.isArray(action['queries']) ? action['queries'].filter((q) => typeof q === 'string') : [];
      const first = queries[0] ?? '';
      return text('query') || (queries.length > 1 && first !== '' ? `${first} ...` : first);
    }
    case 'open_page':
      return text('url');
    case 'find_in_page':
      return [text('pattern') && `'${text('pattern')}'`, text('url')].filter(Boolean).join(' in ');
    default:
      return '';
  }
}

/** What the command wrote. */
export function commandOutput(outcome: ToolOutcome): string {
  const { report } = outcome;
  if (report?.type !== 'command') return outcome.text;
  if (report.output !== undefined) return report.output;
  return report.outputAt === undefined ? outcome.text : outcome.text.slice(report.outputAt);
}

function wireChanges(changes: readonly FileChange[]): readonly Change[] {
  return changes
    .map(({ path, kind }) => ({ path, kind }))
    .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

function changesOf(outcome: ToolOutcome): readonly Change[] {
  return outcome.report?.type === 'fileChange' ? wireChanges(outcome.report.changes) : [];
}

function mcpResult(outcome: ToolOutcome): Pick<Extract<ExecItemBody, { type: 'mcp_tool_call' }>, 'result' | 'error'> {
  if (outcome.report?.type !== 'mcp')
    return { result: null, error: outcome.kind === 'ok' ? null : { message: outcome.text } };
  const { result, error } = outcome.report;
  const fields = asRecord(result);
  return {
    result: fields
      ? { content: fields['content'] ?? [], structured_content: fields['structuredContent'] ?? null }
      : null,
    error: error === null ? null : { message: error },
  };
}

function wireDecision(outcome: Extract<ToolOutcome, { kind: 'rejected' }>): WireDecision {
  const decision: Partial<Decision> = outcome.decision ?? {};
  return {
    by: outcome.by,
    ...(decision.rule === undefined ? {} : { rule: decision.rule }),
    reason: decision.reason ?? outcome.text,
  };
}

function parsedArguments(call: Extract<Item, { type: 'toolCall' }>): unknown {
  if (call.payload.kind === 'custom') return call.payload.input;
  try {
    return JSON.parse(call.payload.arguments);
  } catch {
    return call.payload.arguments;
  }
}

/** `cmd` of exec_command; `command` of its older relatives, as text or argv. */
function commandText(args: unknown): string | undefined {
  const fields = asRecord(args);
  const command = fields?.['cmd'] ?? fields?.['command'];
  if (typeof command === 'string') return command;
  return Array.isArray(command) && command.every((word) => typeof word === 'string') ? quoteArgv(command) : undefined;
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
}

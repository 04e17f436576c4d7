/** Hooks from configuration, fitted to the ports of the tools, the turn and the approvals. Event names and payloads are Codex 0.171's. */
import type { PermissionHook } from '../approvals/index.js';
import type { Hooks } from '../hooks/index.js';
import type { Item, ToolOutcome, ToolPayload, ToolView, TurnSettings } from '../protocol/index.js';
import type { HookFacts, ToolHooks } from '../tools/index.js';
import type { PromptHooks, StopHooks } from '../turn/index.js';

export interface HookPorts {
  readonly toolHooks: ToolHooks;
  readonly stopHooks: StopHooks;
  readonly promptHooks: PromptHooks;
  readonly permissionHook: PermissionHook;
  /** Developer context for the first turn of a session. */
  sessionStart(source: 'startup' | 'resume', settings: TurnSettings): Promise<readonly string[]>;
}

/** `warn` shows what a hook wants the person to see. `nextId` makes ids for context messages. */
export function hookPorts(hooks: Hooks, warn: (message: string) => void, nextId: () => string): HookPorts {
  const never = new AbortController().signal;
  return {
    toolHooks: toolHooks(hooks, warn, nextId),
    stopHooks: {
      async run({ turnId, settings, stopHookActive, lastMessage }, signal) {
        const extra = { stop_hook_active: stopHookActive, last_assistant_message: lastMessage ?? null };
        const answer = await hooks.run('Stop', [], factsOf(settings, turnId), extra, signal);
        answer.messages.forEach(warn);
        if (answer.stop !== undefined || answer.block === undefined) return {};
        return { block: `<hook_prompt hook_run_id="${answer.blockedBy}">${answer.block}</hook_prompt>` };
      },
    },
    promptHooks: {
      async run({ turnId, input, settings }, signal) {
        const prompt = input.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n');
        const answer = await hooks.run('UserPromptSubmit', [], factsOf(settings, turnId), { prompt }, signal);
        answer.messages.forEach(warn);
        const block = answer.block ?? answer.stop;
        return { contexts: answer.contexts, ...(block === undefined ? {} : { block }) };
      },
    },
    permissionHook: {
      async decide(request, signal) {
        if (!hooks.has('PermissionRequest')) return undefined;
        const { name, input } = viewInput(request.view, request.reason);
        const answer = await hooks.run(
          'PermissionRequest',
          [name],
          { cwd: cwdOf(request.view) },
          { tool_name: name, tool_input: input },
          signal,
        );
        if (answer.block !== undefined) return { allow: false, reason: answer.block };
        return answer.allow ? { allow: true } : undefined;
      },
    },
    async sessionStart(source, settings) {
      const answer = await hooks.run('SessionStart', [source], factsOf(settings), { source }, never);
      answer.messages.forEach(warn);
      return answer.contexts;
    },
  };
}

function toolHooks(hooks: Hooks, warn: (message: string) => void, nextId: () => string): ToolHooks {
  return {
    async preTool(facts, signal) {
      if (!hooks.has('PreToolUse')) return {};
      const answer = await runTool(hooks, 'PreToolUse', facts, {}, signal);
      answer.messages.forEach(warn);
      await addContexts(facts, answer.contexts, nextId);
      const rewritten = answer.updatedInput === undefined ? undefined : rewritePayload(facts, answer.updatedInput);
      return {
        ...(answer.block === undefined ? {} : { block: answer.block }),
        ...(rewritten ? { payload: rewritten } : {}),
      };
    },
    async postTool(facts, signal) {
      if (!hooks.has('PostToolUse') || !succeeded(facts.outcome)) return {};
      const answer = await runTool(hooks, 'PostToolUse', facts, { tool_response: responseText(facts.outcome) }, signal);
      answer.messages.forEach(warn);
      await addContexts(facts, answer.contexts, nextId);
      const text = answer.block ?? answer.stop;
      return text === undefined ? {} : { replaceText: text };
    },
  };
}

function runTool(
  hooks: Hooks,
  event: 'PreToolUse' | 'PostToolUse',
  facts: HookFacts,
  extra: Record<string, unknown>,
  signal: AbortSignal,
) {
  const { name, aliases, input } = toolInput(facts.tool, facts.payload);
  const { settings, turnId, callId } = facts.context;
  const payload = { tool_name: name, tool_input: input, tool_use_id: callId, ...extra };
  return hooks.run(event, [name, ...aliases], factsOf(settings, turnId), payload, signal);
}

/** A handler's result counts as success when the tool ran, also with a non-zero exit. */
function succeeded(outcome: ToolOutcome): boolean {
  return (
    outcome.kind === 'ok' || (outcome.kind === 'failed' && outcome.report !== undefined && outcome.exitCode !== -1)
  );
}

/** For commands the output without its header block. */
function responseText(outcome: ToolOutcome): string {
  const report = outcome.report;
  if (report?.type !== 'command') return outcome.text;
  return report.output ?? outcome.text.slice(report.outputAt ?? 0);
}

function toolInput(tool: string, payload: ToolPayload): { name: string; aliases: readonly string[]; input: unknown } {
  const args = payload.kind === 'function' ? parseArgs(payload.arguments) : {};
  if (tool === 'exec_command') return { name: 'Bash', aliases: [], input: { command: String(args['cmd'] ?? '') } };
  if (tool === 'apply_patch') {
    const patch = payload.kind === 'custom' ? payload.input : String(args['input'] ?? '');
    return { name: 'apply_patch', aliases: ['Write', 'Edit'], input: { command: patch } };
  }
  return { name: tool, aliases: [], input: payload.kind === 'custom' ? { input: payload.input } : args };
}

/** For command tools `{command}` replaces the script and leaves the other arguments. */
function rewritePayload(facts: HookFacts, updated: unknown): ToolPayload {
  const input = typeof updated === 'object' && updated !== null ? (updated as Record<string, unknown>) : {};
  const { payload, tool } = facts;
  if (tool === 'apply_patch') return { kind: 'custom', input: String(input['command'] ?? '') };
  if (payload.kind === 'custom') return { kind: 'custom', input: String(input['input'] ?? '') };
  if (tool !== 'exec_command') return { kind: 'function', arguments: JSON.stringify(input) };
  return {
    kind: 'function',
    arguments: JSON.stringify({ ...parseArgs(payload.arguments), cmd: String(input['command'] ?? '') }),
  };
}

async function addContexts(facts: HookFacts, contexts: readonly string[], nextId: () => string): Promise<void> {
  for (const text of contexts) {
    const item: Item = { type: 'context', id: nextId(), role: 'developer', kind: 'hookContext', text };
    await facts.context.record({ type: 'item.completed', item });
  }
}

function viewInput(view: ToolView, reason: string | undefined): { name: string; input: unknown } {
  const description = reason === undefined ? {} : { description: reason };
  switch (view.type) {
    case 'command':
      return { name: 'Bash', input: { command: view.argv.at(-1) ?? '', ...description } };
    case 'fileChange':
      return {
        name: 'apply_patch',
        input: { paths: view.changes.map(({ path, kind }) => ({ path, kind })), ...description },
      };
    case 'mcp':
      return { name: `mcp__${view.server}__${view.tool}`, input: view.arguments };
    default:
      return { name: view.type, input: view };
  }
}

function cwdOf(view: ToolView): string {
  return view.type === 'command' ? view.cwd : process.cwd();
}

function factsOf(settings: TurnSettings, turnId?: string) {
  const bypass = settings.sandbox.mode === 'danger-full-access' && settings.approvalPolicy === 'never';
  return {
    cwd: settings.cwd,
    model: settings.model,
    permissionMode: bypass ? 'bypassPermissions' : 'default',
    ...(turnId === undefined ? {} : { turnId }),
  };
}

function parseArgs(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** What a hook's exit status and output mean, per event. Pure. */
import type { HookEvent } from './config.js';
import type { HookRun } from './run.js';

export interface HookAnswer {
  /** The hook refuses: a tool call, a prompt, or (Stop) the end of the turn. */
  readonly block?: string;
  /** PermissionRequest: an allow. */
  readonly allow?: true;
  /** PreToolUse: run this input instead. */
  readonly updatedInput?: unknown;
  /** For the model, as the developer's word. */
  readonly context?: string;
  /** `continue: false`. */
  readonly stop?: string;
  /** For the person. */
  readonly message?: string;
  /** The hook itself failed; whether that blocks is the handler's `onError`. */
  readonly error?: string;
}

/** Events whose plain text output becomes context. */
const TEXT_IS_CONTEXT: readonly HookEvent[] = ['SessionStart', 'UserPromptSubmit'];

export function readAnswer(run: HookRun): HookAnswer {
  if (run.failure) return { error: `hook \`${run.handler.command}\` ${run.failure}` };
  if (run.exitCode === 2) {
    const reason = run.stderr.trim();
    return reason === '' ? failed(run, 'exited with 2 and no reason on stderr') : { block: reason };
  }
  if (run.exitCode !== 0) return failed(run, `exited with ${run.exitCode}`);
  const text = run.stdout.trim();
  if (text === '') return {};
  if (text.startsWith('{')) return readJson(run, text);
  if (TEXT_IS_CONTEXT.includes(run.handler.event)) return { context: text };
  return run.handler.event === 'Stop' || run.handler.event === 'SubagentStop'
    ? failed(run, 'printed text that is no JSON object')
    : {};
}

function readJson(run: HookRun, text: string): HookAnswer {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return failed(run, 'printed invalid JSON');
  }
  const out = objectOf(value);
  const specific = objectOf(out['hookSpecificOutput']);
  const message = typeof out['systemMessage'] === 'string' ? { message: out['systemMessage'] } : {};
  const context = typeof specific['additionalContext'] === 'string' ? { context: specific['additionalContext'] } : {};
  return { ...message, ...context, ...decisionOf(run, out, specific) };
}

function decisionOf(run: HookRun, out: Record<string, unknown>, specific: Record<string, unknown>): HookAnswer {
  const { event } = run.handler;
  if (out['continue'] === false)
    return event === 'PreToolUse'
      ? failed(run, '`continue: false` is not accepted before a tool')
      : { stop: textOf(out['stopReason'], 'stopped by a hook') };
  if (out['decision'] === 'block') {
    const reason = textOf(out['reason'], '');
    return reason === '' ? failed(run, 'blocked without a reason') : { block: reason };
  }
  if (event === 'PermissionRequest') return permissionDecision(run, objectOf(specific['decision']));
  return event === 'PreToolUse' ? preToolDecision(run, specific) : {};
}

function preToolDecision(run: HookRun, specific: Record<string, unknown>): HookAnswer {
  switch (specific['permissionDecision']) {
    case undefined:
      return {};
    case 'deny':
      return { block: textOf(specific['permissionDecisionReason'], 'denied by a hook') };
    case 'allow':
      return specific['updatedInput'] === undefined
        ? failed(run, 'allowed without `updatedInput`, which means nothing before a tool')
        : { updatedInput: specific['updatedInput'] };
    default:
      return failed(run, `gave the unknown permissionDecision ${JSON.stringify(specific['permissionDecision'])}`);
  }
}

function permissionDecision(run: HookRun, decision: Record<string, unknown>): HookAnswer {
  switch (decision['behavior']) {
    case undefined:
      return {};
    case 'allow':
      return { allow: true };
    case 'deny':
      return { block: textOf(decision['message'], 'denied by a hook') };
    default:
      return failed(run, `gave the unknown behavior ${JSON.stringify(decision['behavior'])}`);
  }
}

function failed(run: HookRun, why: string): HookAnswer {
  return { error: `hook \`${run.handler.command}\` ${why}` };
}

function textOf(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value.trim() !== '' ? value : otherwise;
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** `exec_command`: runs a shell script, and hands it over as a session when it takes longer than the model will wait. */

import { resolve } from 'node:path';
import {
  type Attempt,
  type CallContext,
  RedirectedCall,
  type SandboxDenial,
  type Tool,
} from '../../orchestrator/index.js';
import type { ToolOutcome, ToolPayload } from '../../protocol/index.js';
import { type ExecArgs, parseExecArgs } from './exec-args.js';
import type { ExecServices, PatchInterceptor } from './options.js';
import { abortedOutcome, exitedOrDenied, runningOutcome, startFailedOutcome } from './outcomes.js';
import { splitPlainScript } from './plain-script.js';
import { execCommandSpec } from './specs.js';
import { describeStartFailure, type StartedCommand, startCommand } from './start-command.js';

export function createExecCommandTool(services: ExecServices): Tool<ExecArgs> {
  const { deps } = services;
  return {
    spec: execCommandSpec,
    accepts: ['function'],
    gateGroup: 'shared',
    // A script that is nothing but a patch stands in the line of the patches.
    gateGroupOf: (payload) => (isPatchScript(payload, deps.interceptPatch) ? 'patch' : 'shared'),
    escalation: { escalateOnFailure: true },
    parse(payload, context) {
      const { shell, allowLoginShell } = deps;
      const args = parseExecArgs(payload, { cwd: context.settings.cwd, shell, allowLoginShell });
      return redirectPatch(args, deps.interceptPatch) ?? args;
    },
    view({ argv, cwd, script }) {
      const actions = deps.summarize?.(script, { cwd });
      return { type: 'command', argv, cwd, ...(actions ? { actions } : {}) };
    },
    requirement: (args, context) =>
      services.policy.decide({
        argv: args.argv,
        script: args.script,
        cwd: args.cwd,
        settings: context.settings,
        escalationRequested: args.escalated,
        ...(args.justification === undefined ? {} : { justification: args.justification }),
        ...(args.prefixRule === undefined ? {} : { prefixRule: args.prefixRule }),
      }),
    wantsEscalation: (args) => args.escalated,
    cacheKeys: (args) => [cacheKey(args)],
    run: (args, attempt, context, signal) => runCommand(args, attempt, context, services, signal),
  };
}

async function runCommand(
  args: ExecArgs,
  attempt: Attempt,
  context: CallContext,
  services: ExecServices,
  signal: AbortSignal,
): Promise<ToolOutcome | SandboxDenial> {
  const { clock, processes } = services.deps;
  const startedAtMs = clock.nowMs();
  const look = (sessionId: number) => ({
    sessionId,
    wallMs: clock.nowMs() - startedAtMs,
    maxOutputTokens: args.maxOutputTokens,
  });
  let started: StartedCommand;
  try {
    started = await startCommand(args, attempt, context, services, signal);
  } catch (error) {
    if (signal.aborted) return abortedOutcome(look(0), undefined, signal.reason, services);
    const sentence = describeStartFailure(error);
    if (sentence === undefined) throw error;
    return startFailedOutcome(execCommandSpec.name, sentence, look(0).wallMs);
  }
  const { session, sessionId } = started;
  const end = await session.wait(args.yieldMs, clock, signal);
  if (end === 'running') {
    announceEnd(started, context);
    return runningOutcome({ session, ...look(sessionId) }, services);
  }
  if (end === 'aborted') await session.terminate();
  processes.remove(sessionId);
  if (end === 'aborted') return abortedOutcome(look(sessionId), session.takeNew(), signal.reason, services);
  return exitedOrDenied({ session, ...look(sessionId) }, services);
}

/** The end of a session is news: its call is long over. */
function announceEnd({ session, sessionId }: StartedCommand, context: CallContext): void {
  // `ended` never rejects; a process that cannot be watched counts as ended.
  void session.ended.then(() =>
    context.emit({ type: 'session.ended', callId: context.callId, sessionId, exitCode: session.exitCode }),
  );
}

function isPatchScript(payload: ToolPayload, intercept: PatchInterceptor | undefined): boolean {
  if (payload.kind !== 'function' || !/apply_?patch/.test(payload.arguments)) return false;
  try {
    const { cmd } = JSON.parse(payload.arguments) as { cmd?: unknown };
    return typeof cmd === 'string' && intercept?.(cmd) !== undefined;
  } catch {
    return false; // `parse` tells the model
  }
}

function redirectPatch(args: ExecArgs, intercept: PatchInterceptor | undefined): RedirectedCall | undefined {
  const found = intercept?.(args.script);
  if (!found) return undefined;
  return new RedirectedCall({
    tool: 'apply_patch',
    payload: { kind: 'custom', input: found.patch },
    outputPrefix: 'Wall time: 0.0000 seconds\nOutput:\n',
    cwd: resolve(args.cwd, found.workdir ?? '.'),
  });
}

/** What a remembered approval is for. Spacing and the login flag do not matter; everything else does. */
function cacheKey(args: ExecArgs): string {
  const { shell, script, cwd, tty, escalated } = args;
  const squeezed = script.trim().replace(/'[^']*'|"[^"]*"|[ \t]+/g, (part) => (part.trim() === '' ? ' ' : part));
  return JSON.stringify([
    execCommandSpec.name,
    shell.path,
    splitPlainScript(script) ? squeezed : script,
    cwd,
    tty,
    escalated,
  ]);
}

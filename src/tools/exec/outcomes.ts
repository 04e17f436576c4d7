/** What a command came to, told to the model and to clients. */
import type { SandboxDenial } from '../../orchestrator/index.js';
import { MAX_SESSIONS, type OutputSlice, WARN_SESSIONS } from '../../process/index.js';
import { Interrupted, type SandboxDenialFacts, type ToolOutcome, type ToolReport } from '../../protocol/index.js';
import { DEFAULT_MAX_OUTPUT_TOKENS, estimateTokens, formatExecOutput, truncateOutput } from './format-output.js';
import type { ExecServices } from './options.js';
import type { CommandSession } from './session.js';

/** One call's look at a session. */
export interface Look {
  readonly session: CommandSession;
  readonly sessionId: number;
  readonly wallMs: number;
  /** Asked for by the model. */
  readonly maxOutputTokens: number | undefined;
}

/** The command ended within this call. */
export function exitedOutcome(
  look: Look,
  services: ExecServices,
): { outcome: ToolOutcome; denial?: SandboxDenialFacts } {
  const { session } = look;
  const slice = session.takeNew();
  const exitCode = session.exitCode ?? -1;
  const denial = findDenial(session, slice, services);
  const { text, output } = render(look, slice, { exitCode }, services, []);
  const report: ToolReport = {
    type: 'command',
    exitCode,
    durationMs: look.wallMs,
    ...output,
    ...(denial ? { denial } : {}),
  };
  const outcome: ToolOutcome =
    exitCode === 0 ? { kind: 'ok', text, report } : { kind: 'failed', text, exitCode, report };
  return { outcome, ...(denial ? { denial } : {}) };
}

/** The same, as the orchestrator wants it: a denial may lead to a second attempt. */
export function exitedOrDenied(look: Look, services: ExecServices): ToolOutcome | SandboxDenial {
  const { outcome, denial } = exitedOutcome(look, services);
  return denial ? { kind: 'sandboxDenied', denial, outcome } : outcome;
}

/** The command goes on as a session. */
export function runningOutcome(look: Look, services: ExecServices): ToolOutcome {
  const slice = look.session.takeNew();
  const open = services.deps.processes.size;
  const notes =
    open >= WARN_SESSIONS
      ? [`Warning: ${open} sessions are open; at ${MAX_SESSIONS} the least recently used one is ended.`]
      : [];
  const { text, output } = render(look, slice, { sessionId: look.sessionId }, services, notes);
  const report: ToolReport = {
    type: 'command',
    exitCode: null,
    sessionId: look.sessionId,
    durationMs: look.wallMs,
    ...output,
  };
  return { kind: 'ok', text, report };
}

/** A session that ended later and was stopped by the sandbox cannot be run again by us; the model is told. */
export function endedSessionOutcome(look: Look, services: ExecServices): ToolOutcome {
  const { outcome, denial } = exitedOutcome(look, services);
  if (!denial || outcome.kind !== 'failed') return outcome;
  const note = 'the sandbox blocked part of this command; ask to rerun it with escalation if that is needed';
  return { ...outcome, text: `${outcome.text}${outcome.text.endsWith('\n') ? '' : '\n'}${note}` };
}

/** Someone stopped the turn. What the command printed until then is not lost. */
export function abortedOutcome(
  look: Omit<Look, 'session'>,
  slice: OutputSlice | undefined,
  reason: unknown,
  services: ExecServices,
): ToolOutcome {
  const head = `Wall time: ${(look.wallMs / 1000).toFixed(1)} seconds\n${abortedBy(reason)}`;
  const report = { type: 'command' as const, exitCode: null, durationMs: look.wallMs };
  if (!slice || slice.text === '') return { kind: 'aborted', text: head, report };
  const shown = truncateOutput({
    text: slice.text,
    originalTokens: originalTokens(slice),
    maxOutputTokens: tokenBudget(look.maxOutputTokens, services),
    totalLines: slice.lines,
  });
  return { kind: 'aborted', text: `${head}\nOutput so far:\n${shown}`, report: { ...report, output: slice.text } };
}

export function startFailedOutcome(tool: string, sentence: string, wallMs: number): ToolOutcome {
  const report: ToolReport = { type: 'command', exitCode: -1, durationMs: wallMs, output: sentence };
  return { kind: 'failed', text: `${tool} failed: ${sentence}`, exitCode: -1, report };
}

function abortedBy(reason: unknown): string {
  if (!(reason instanceof Interrupted) || reason.why === 'user') return 'aborted by user';
  return `aborted (${reason.why})`;
}

function findDenial(
  session: CommandSession,
  slice: OutputSlice,
  services: ExecServices,
): SandboxDenialFacts | undefined {
  const { exit, exitCode, facts } = session;
  if (!exit || exitCode === 0) return undefined;
  return services.detectDenial({
    exitCode,
    signal: exit.signal,
    output: slice.text,
    policy: facts.sandbox,
    cwd: facts.cwd,
    refusedHosts: session.refusedHosts,
  });
}

interface Rendered {
  readonly text: string;
  /** Where a client finds the output: the end of the text, or a copy when the text was cut. */
  readonly output: { readonly outputAt: number } | { readonly output: string };
}

function render(
  look: Look,
  slice: OutputSlice,
  state: { exitCode: number } | { sessionId: number },
  services: ExecServices,
  notes: readonly string[],
): Rendered {
  const text = formatExecOutput({
    chunkId: services.deps.ids.chunk(),
    wallMs: look.wallMs,
    state,
    text: slice.text,
    originalTokens: originalTokens(slice),
    maxOutputTokens: tokenBudget(look.maxOutputTokens, services),
    totalLines: slice.lines,
    notes: [...notes, ...dropNotes(look.session, slice)],
  });
  const whole = text.endsWith(`Output:\n${slice.text}`);
  return { text, output: whole ? { outputAt: text.length - slice.text.length } : { output: slice.text } };
}

function dropNotes(session: CommandSession, slice: OutputSlice): string[] {
  if (slice.droppedBytes === 0) return [];
  const where = session.spillPath === undefined ? '' : `; the whole output is in ${session.spillPath}`;
  return [`Dropped from the middle: ${slice.droppedBytes} bytes, ${slice.droppedLines} lines${where}`];
}

function tokenBudget(asked: number | undefined, services: ExecServices): number {
  return Math.min(asked ?? DEFAULT_MAX_OUTPUT_TOKENS, services.maxOutputTokens);
}

/** Of the text as decoded, while it is whole; of the bytes, once some were dropped. */
function originalTokens(slice: OutputSlice): number {
  return estimateTokens(slice.droppedBytes === 0 ? Buffer.byteLength(slice.text) : slice.bytes);
}

/**
 * The `apply_patch` tool. A patch is parsed and tried in memory before policy is asked, so policy, people and hooks see
 * every path it will write, and a patch that does not fit is an answer to the model instead of an item.
 *
 * The writes happen in this process, outside the sandbox of commands. That is safe because nothing is written that
 * policy has not judged: targets are canonical paths (every link followed); if by the time of writing the patch leads to
 * another target it is refused; and each write starts from a directory that is held open and proven to be the judged one
 * (`pinned-directory.ts`), so a command running meanwhile cannot divert it with a link.
 */

import { resolve } from 'node:path';
import { ArgumentError, type CallContext, type Tool } from '../../orchestrator/index.js';
import type { FileChange, ToolOutcome, ToolPayload } from '../../protocol/index.js';
import { parseJsonArgs, requireString } from '../json-args.js';
import { applyPatch } from './apply-plan.js';
import { announcedChanges, type DescribedChanges, describeChanges } from './describe-changes.js';
import type { ParsedPatch } from './parse-patch.js';
import { parsePatch } from './parse-patch.js';
import { PatchError } from './patch-error.js';
import { decidePatchRequirement } from './patch-requirement.js';
import { type PatchPlan, patchTargets, planPatch } from './plan-patch.js';
import { findHidden, gatherPolicyFacts } from './policy-paths.js';
import { APPLY_PATCH_SPEC } from './spec.js';
import { ThreadMemory } from './thread-memory.js';
import type { TurnDiffTracker } from './turn-diff.js';
import { ESCALATED_HINT, explainArgument, unwrapPatchArgument } from './unwrap-argument.js';

export interface PatchArgs {
  readonly patch: ParsedPatch;
  /** Absolute; the call's directory, or the one of `cd DIR &&`. */
  readonly cwd: string;
  /** Canonical places of everything it writes or removes, sorted. */
  readonly targets: readonly string[];
  readonly changes: readonly FileChange[];
  /** Absent while an earlier patch of the turn may still have to write what this one builds on. */
  readonly plan?: PatchPlan;
  readonly diff?: string;
}

export interface ApplyPatchToolOptions {
  /** The tracker of the call's turn; it is shown the files before they are written. */
  readonly tracker?: (context: CallContext) => TurnDiffTracker | undefined;
  /** Absolute paths no confined patch may touch, also inside a writable root: the config homes. */
  readonly closed?: readonly string[];
}

/** One tool for any number of threads; it remembers each thread's last failure, to say more the second time. */
export function createApplyPatchTool(options: ApplyPatchToolOptions = {}): Tool<PatchArgs> {
  const memory = new ThreadMemory();
  return {
    spec: APPLY_PATCH_SPEC,
    accepts: ['custom', 'function'],
    gateGroup: 'patch',
    escalation: { escalateOnFailure: false },
    parse: (payload, context) =>
      memory.inOrder(context.threadId, () => parseArgs(readArgument(payload), context, memory)),
    view: (args) => ({ type: 'fileChange', changes: args.changes }),
    requirement: (args, context) =>
      decidePatchRequirement(args.targets, gatherPolicyFacts(context.settings, process.env['TMPDIR'], options.closed)),
    cacheKeys: (args) => args.targets.map((path) => `patch ${path}`),
    async run(args, _attempt, context, signal) {
      try {
        return await write(args, options.tracker?.(context), signal);
      } finally {
        memory.settled(context, args.targets);
      }
    },
  };
}

/** The function form wraps the patch in JSON; whatever else a model wraps it in is taken off later. */
function readArgument(payload: ToolPayload): string {
  if (payload.kind === 'custom') return payload.input;
  if (!payload.arguments.trim().startsWith('{')) return payload.arguments;
  const args = parseJsonArgs(payload);
  return ['input', 'patch', 'command', 'cmd'].some((name) => name in args)
    ? payload.arguments
    : requireString(args, 'input');
}

async function parseArgs(argument: string, context: CallContext, memory: ThreadMemory): Promise<PatchArgs> {
  try {
    const args = await readPatch(argument, context, memory);
    memory.succeeded(context.threadId);
    memory.started(context, args.targets);
    return args;
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    const isRepeated = memory.failed(context.threadId, argument);
    throw new ArgumentError(explainFailure(error, argument, isRepeated));
  }
}

async function readPatch(argument: string, context: CallContext, memory: ThreadMemory): Promise<PatchArgs> {
  const { patch: text, workdir } = unwrapPatchArgument(argument);
  const cwd = workdir === undefined ? context.settings.cwd : resolve(context.settings.cwd, workdir);
  const patch = parsePatch(text);
  const targets = patchTargets(patch, cwd);
  const hidden = findHidden(targets, context.settings.sandbox);
  if (hidden !== undefined) throw new ArgumentError(`patch rejected: the sandbox policy hides ${hidden}`);
  try {
    const plan = await planPatch(patch, cwd);
    const { changes, diff } = await describeChanges(plan);
    return { patch, cwd, targets: plan.targets, changes, plan, diff };
  } catch (error) {
    // An earlier call of this turn may write what is missing here: try again when it is this call's turn to write.
    if (!(error instanceof PatchError) || !memory.isAwaited(context, targets)) throw error;
    return { patch, cwd, targets, changes: announcedChanges(patch, cwd) };
  }
}

async function write(args: PatchArgs, tracker: TurnDiffTracker | undefined, signal: AbortSignal): Promise<ToolOutcome> {
  const startedAt = performance.now();
  await tracker?.snapshot(
    args.changes.flatMap((change) => [change.path, ...(change.movePath ? [change.movePath] : [])]),
  );
  try {
    const done = await applyPatch(args, signal);
    const { changes, diff } = await describeDone(args, done);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    return {
      kind: 'ok',
      text: `Exit code: 0\nWall time: ${seconds} seconds\nOutput:\n${done.summary}`,
      report: { type: 'fileChange', changes, diff },
    };
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    const report = {
      type: 'fileChange',
      changes: args.changes,
      ...(args.diff === undefined ? {} : { diff: args.diff }),
    } as const;
    const state = error.problem.kind === 'halfDone' ? '' : '\nNo file was changed.';
    return { kind: 'failed', exitCode: 1, text: `apply_patch failed: ${modelText(error)}${state}`, report };
  }
}

/** What was written may differ from what was announced: the files can have changed elsewhere in between. */
async function describeDone(args: PatchArgs, done: PatchPlan): Promise<DescribedChanges> {
  if (done === args.plan && args.diff !== undefined) return { changes: args.changes, diff: args.diff };
  return describeChanges(done);
}

function explainFailure(error: PatchError, argument: string, isRepeated: boolean): string {
  if (error.problem.kind === 'empty') return 'patch rejected: empty patch';
  const text = `apply_patch verification failed: ${modelText(error)}`;
  const isForm = error.problem.kind === 'envelope' || error.problem.kind === 'hunk';
  if (isForm && isRepeated) return `${text}\n${ESCALATED_HINT}`;
  if (error.problem.kind === 'envelope') return `${text}\n${explainArgument(argument)}`;
  if (isRepeated) return `${text}\nThis is the same patch that failed before; read the file again and write a new one.`;
  return text;
}

/** Codex 0.171 words it so. */
function modelText(error: PatchError): string {
  switch (error.problem.kind) {
    case 'envelope':
      return `invalid patch: ${error.message}`;
    case 'hunk':
      return `invalid hunk at line ${error.problem.line}, ${error.message}`;
    default:
      return error.message;
  }
}

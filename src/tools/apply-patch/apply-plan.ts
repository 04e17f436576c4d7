/** Writes a plan: all of it, or nothing. */
import type { ParsedPatch } from './parse-patch.js';
import { PatchError } from './patch-error.js';
import { withPathLocks } from './path-locks.js';
import { type PatchPlan, type PatchStep, planPatch } from './plan-patch.js';
import { type StagedStep, type StageStep, stageStep } from './stage-step.js';

/** How often a plan is made anew when files change under it. Only other processes can do that while we hold the locks. */
const MAX_PLANS = 4;

/** A patch whose targets were judged. `plan` is what it came to when it was checked. */
export interface CheckedPatch {
  readonly patch: ParsedPatch;
  readonly cwd: string;
  readonly targets: readonly string[];
  readonly plan?: PatchPlan;
}

/**
 * Holds the targets, checks that the files are still what the plan was made from (else plans again: chunks are found by
 * their text, so an edit elsewhere in a file is no conflict), then writes. Returns the plan that was carried out.
 * @throws PatchError when the patch does not fit any more, leads to other files by now, or the system refuses; then
 * every file is as it was.
 */
export function applyPatch(
  checked: CheckedPatch,
  signal: AbortSignal,
  stage: StageStep = stageStep,
): Promise<PatchPlan> {
  return withPathLocks(checked.targets, signal, async () => {
    let plan = checked.plan ?? (await replan(checked));
    for (let tries = 1; ; tries++) {
      try {
        await commitSteps(plan.steps, stage);
        return plan;
      } catch (error) {
        if (!(error instanceof PatchError) || error.problem.kind !== 'stale' || tries === MAX_PLANS) throw error;
        plan = await replan(checked);
      }
    }
  });
}

/** `applyPatch` for a plan as it comes from `planPatch`. */
export function applyPlan(plan: PatchPlan, signal: AbortSignal, stage: StageStep = stageStep): Promise<PatchPlan> {
  return applyPatch({ patch: plan.patch, cwd: plan.cwd, targets: plan.targets, plan }, signal, stage);
}

async function replan({ patch, cwd, targets }: CheckedPatch): Promise<PatchPlan> {
  const again = await planPatch(patch, cwd);
  const known = new Set(targets);
  const other = again.targets.find((path) => !known.has(path));
  if (other === undefined) return again;
  throw new PatchError(
    { kind: 'stale', path: other },
    `the patch leads to ${other} now, which is not what was checked before; nothing was written`,
  );
}

async function commitSteps(steps: readonly PatchStep[], stage: StageStep): Promise<void> {
  const staged: StagedStep[] = [];
  const committed: StagedStep[] = [];
  let kept = false;
  try {
    for (const step of steps) staged.push(await stage(step));
    for (const step of staged) {
      await step.commit();
      committed.push(step);
    }
    kept = true;
  } catch (error) {
    throw await undo(committed, error);
  } finally {
    // Backwards: a step may use a directory that one before it made.
    for (const step of staged.toReversed()) await step.dispose(kept);
  }
}

/** The error to throw: the one that stopped the patch, or a plainer word if putting things back failed as well. */
async function undo(committed: readonly StagedStep[], reason: unknown): Promise<unknown> {
  const failures: unknown[] = [];
  for (const step of committed.toReversed()) await step.undo().catch((error: unknown) => failures.push(error));
  if (failures.length === 0) return reason;
  const text = (error: unknown) => (error instanceof Error ? error.message : String(error));
  const path = reason instanceof PatchError && 'path' in reason.problem ? reason.problem.path : '';
  return new PatchError(
    { kind: 'halfDone', path },
    `${text(reason)}; ${failures.length} file(s) could not be put back (${failures.map(text).join('; ')}): look at them before going on`,
    reason,
  );
}

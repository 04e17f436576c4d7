/** Writes a plan: all of it, or nothing. */
import { PatchError } from './patch-error.js';
import { withPathLocks } from './path-locks.js';
import { type PatchPlan, type PatchStep, planPatch } from './plan-patch.js';
import { type StagedStep, type StageStep, stageStep } from './stage-step.js';

/** How often a plan is made anew when files change under it. Only other processes can do that while we hold the locks. */
const MAX_PLANS = 4;

/**
 * Holds the plan's targets, checks that they are still what the plan was made from (else plans again: chunks are found
 * by their text, so an edit elsewhere in the file is no conflict), then writes. Returns the plan that was carried out.
 * @throws PatchError when the patch does not fit any more, leads to other files by now, or the system refuses; then
 * every file is as it was.
 */
export function applyPlan(plan: PatchPlan, signal: AbortSignal, stage: StageStep = stageStep): Promise<PatchPlan> {
  return withPathLocks(plan.targets, signal, async () => {
    let current = plan;
    for (let tries = 1; ; tries++) {
      try {
        await commitSteps(current.steps, stage);
        return current;
      } catch (error) {
        if (!(error instanceof PatchError) || error.problem.kind !== 'stale' || tries === MAX_PLANS) throw error;
        current = await replan(plan);
      }
    }
  });
}

async function replan(plan: PatchPlan): Promise<PatchPlan> {
  const again = await planPatch(plan.patch, plan.cwd);
  const moved = again.targets.find((path, index) => path !== plan.targets[index]);
  if (moved === undefined && again.targets.length === plan.targets.length) return again;
  const path = moved ?? plan.cwd;
  throw new PatchError(
    { kind: 'stale', path },
    `the patch leads to other files than when it was checked (${path}); nothing was written`,
  );
}

async function commitSteps(steps: readonly PatchStep[], stage: StageStep): Promise<void> {
  const staged: StagedStep[] = [];
  const committed: StagedStep[] = [];
  try {
    for (const step of steps) staged.push(await stage(step));
    for (const step of staged) {
      await step.commit();
      committed.push(step);
    }
  } catch (error) {
    throw await undo(committed, error);
  } finally {
    for (const step of staged) await step.dispose();
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
    { kind: 'write', path },
    `${text(reason)}; ${failures.length} file(s) could not be put back (${failures.map(text).join('; ')}): look at them before going on`,
    reason,
  );
}

/** `apply_patch` as a program, on this process's own streams. */
import { runApplyPatchCommand } from '../tools/index.js';

/** Exit status: 0 applied, 1 nothing was changed, 2 wrong usage. */
export function runApplyPatch(args: readonly string[]): Promise<number> {
  const { stdin, stdout, stderr } = process;
  return runApplyPatchCommand(args, { stdin, stdout, stderr, cwd: process.cwd() });
}

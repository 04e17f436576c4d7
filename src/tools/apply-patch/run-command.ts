/** `turnwright apply_patch`: the patch as the only argument or on stdin. Texts and statuses as Codex 0.171's `apply_patch`. */
import { applyPlan } from './apply-plan.js';
import { parsePatch } from './parse-patch.js';
import { PatchError, renderPatchError } from './patch-error.js';
import { decodeUtf8 } from './patch-files.js';
import { planPatch } from './plan-patch.js';

export interface CommandIo {
  readonly stdin: AsyncIterable<Buffer | string>;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  /** Absolute; relative paths of the patch start here. */
  readonly cwd: string;
}

const USAGE = "Usage: apply_patch 'PATCH'\n       echo 'PATCH' | apply_patch\n";

/** Exit status: 0 applied, 1 nothing was changed, 2 wrong usage. */
export async function runApplyPatchCommand(args: readonly string[], io: CommandIo): Promise<number> {
  if (args.length > 1) {
    io.stderr.write('Error: apply_patch accepts exactly one argument.\n');
    return 2;
  }
  const text = args[0] ?? (await readAll(io.stdin));
  if (text === undefined) {
    io.stderr.write('Error: Failed to read PATCH from stdin.\nstream did not contain valid UTF-8\n');
    return 1;
  }
  if (text === '' && args.length === 0) {
    io.stderr.write(USAGE);
    return 2;
  }
  try {
    const plan = await planPatch(parsePatch(text), io.cwd);
    const done = await applyPlan(plan, new AbortController().signal);
    io.stdout.write(done.summary);
    return 0;
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    io.stderr.write(`${renderPatchError(error)}\n`);
    return 1;
  }
}

async function readAll(stdin: AsyncIterable<Buffer | string>): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  return decodeUtf8(Buffer.concat(chunks));
}

/**
 * One real pipe for a child's stdout and stderr together. Two pipes lose the order of what was written, and Node's own
 * stdio is a socket pair, on which `> /dev/stderr` fails. Node cannot make a pipe, so they come from `mkfifo`, in
 * batches; each is opened and its name removed at once, so nothing is left behind.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export interface OutputPipe {
  readonly readFd: number;
  readonly writeFd: number;
}

const BATCH = 16;
/** Open both ends of unnamed pipes, ready for use. */
const ready: number[] = [];
let unavailable = process.platform !== 'linux';

/** Undefined where it cannot be had; the caller then uses two pipes. The caller closes both descriptors. */
export function openOutputPipe(): OutputPipe | undefined {
  if (ready.length === 0 && !unavailable) refill();
  const both = ready.pop();
  if (both === undefined) return undefined;
  try {
    // Opened anew through /proc, each end knows when the other has gone.
    const readFd = openSync(`/proc/self/fd/${both}`, constants.O_RDONLY | constants.O_NONBLOCK);
    const writeFd = openSync(`/proc/self/fd/${both}`, constants.O_WRONLY);
    return { readFd, writeFd };
  } catch {
    unavailable = true;
    return undefined;
  } finally {
    closeSync(both);
  }
}

function refill(): void {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'turnwright-pipes-'));
  try {
    const names = Array.from({ length: BATCH }, (_, i) => path.join(folder, String(i)));
    if (spawnSync('mkfifo', ['-m', '600', ...names], { stdio: 'ignore' }).status !== 0) {
      unavailable = true;
      return;
    }
    for (const name of names) ready.push(openSync(name, constants.O_RDWR | constants.O_NONBLOCK));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

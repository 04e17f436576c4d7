/**
 * A lock between processes: a file created exclusively, holding the owner's pid. A lock whose owner is gone is taken
 * over. Held only for the few milliseconds of one small write.
 */
import { closeSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { TurnwrightError } from '../protocol/index.js';

const RETRY_MS = 15;
const GIVE_UP_MS = 10_000;
/** A lock without a readable owner is young while its owner writes the pid. */
const UNREADABLE_MS = 2_000;

export async function withFileLock<T>(file: string, run: () => T): Promise<T> {
  const started = Date.now();
  while (!tryLock(file)) {
    if (Date.now() - started > GIVE_UP_MS) {
      throw new TurnwrightError(
        'TW_HOME_WRITE',
        `${file}: another process holds the lock; remove the file if none runs`,
      );
    }
    removeStale(file);
    await wait(RETRY_MS + Math.random() * RETRY_MS);
  }
  try {
    return run();
  } finally {
    rmSync(file, { force: true });
  }
}

function tryLock(file: string): boolean {
  let handle: number;
  try {
    handle = openSync(file, 'wx', 0o600);
  } catch (error) {
    if ((error as { code?: unknown }).code === 'EEXIST') return false;
    throw error;
  }
  writeSync(handle, String(process.pid));
  closeSync(handle);
  return true;
}

/** Two processes may see the same stale lock: the rename lets only one of them remove it. */
function removeStale(file: string): void {
  try {
    const { mtimeMs } = statSync(file);
    const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
    const gone = Number.isNaN(pid) ? Date.now() - mtimeMs > UNREADABLE_MS : !isAlive(pid);
    if (!gone) return;
    const aside = `${file}.${process.pid}.stale`;
    renameSync(file, aside);
    rmSync(aside, { force: true });
  } catch {
    // Its owner has just let go.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: unknown }).code === 'EPERM';
  }
}

/** Every process this program has started and that has not ended: they die with us. */
import { randomBytes } from 'node:crypto';
import { ProcessTree, sendSignal } from './tree.js';

/** Start of all marks of this program's processes; unlike any other instance's. */
const OWN_MARK = `${randomBytes(9).toString('hex')}.`;

const live = new Set<number>();
let marks = 0;
let watchesExit = false;

/** A new mark. All marks made from one `scope` begin with it. */
export function nextMark(scope: string = OWN_MARK): string {
  return `${scope}${++marks}.`;
}

export function isOwnMark(mark: string): boolean {
  return mark.startsWith(OWN_MARK);
}

export function registerProcess(pid: number): void {
  live.add(pid);
  if (watchesExit) return;
  watchesExit = true;
  process.on('exit', killAllProcesses);
}

export function forgetProcess(pid: number): void {
  live.delete(pid);
}

/**
 * Kills (SIGKILL) every process this program started, with all descendants that still carry our mark. Synchronous, so
 * that it works in an exit handler; runs by itself when the program exits, and is for hosts that handle signals.
 */
export function killAllProcesses(): void {
  for (const pid of live) sendSignal(-pid, 'SIGKILL');
  if (watchesExit) new ProcessTree(OWN_MARK).signal('SIGKILL');
}

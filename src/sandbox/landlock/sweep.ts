/** Ends what a command left behind. Without a pid namespace a daemon is found by a mark in its environment. */
import { readdirSync, readFileSync } from 'node:fs';

/** Name of the variable that marks every process of one command. */
export const MARK = 'TURNWRIGHT_SANDBOX_RUN';

const ROUNDS = 5;

/** Kills the process group and everything that carries the mark, until nothing is found. */
export function sweep(group: number, mark: string): void {
  for (let round = 0; round < ROUNDS; round++) {
    const alive = killGroup(group);
    const marked = markedProcesses(mark);
    for (const pid of marked) kill(pid);
    if (!alive && marked.length === 0) return;
  }
}

function markedProcesses(mark: string): number[] {
  const wanted = Buffer.from(`${MARK}=${mark}\0`);
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && carries(name, wanted))
    .map(Number);
}

function carries(pid: string, wanted: Buffer): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`).includes(wanted);
  } catch {
    return false;
  }
}

function killGroup(group: number): boolean {
  return kill(-group);
}

function kill(target: number): boolean {
  try {
    process.kill(target, 'SIGKILL');
    return true;
  } catch {
    return false;
  }
}

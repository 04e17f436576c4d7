/**
 * A command and everything it started. A process group is not enough: `setsid` and daemons leave it. Every process we
 * start carries a mark in its environment, which its descendants inherit, so that also those are found (Linux).
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Environment variable that holds the mark. */
export const MARK_VARIABLE = 'TURNWRIGHT_PROCESS_MARK';

interface Row {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Clock ticks since boot; tells a process from a later one with the same id. */
  readonly startedAt: string;
}

const POLL_MS = 10;
/** Rounds of finding and killing before giving up on something that spawns faster than it dies. */
const MAX_KILL_ROUNDS = 200;

/** The processes of one tree, remembered across looks: a child whose parent died can no longer be found by parent. */
export class ProcessTree {
  readonly #mark: string;
  readonly #seen = new Map<number, string>();
  #group: number | undefined;

  /** `mark`: the value, or the start of the values, of the mark variable. `group`: the leader's process id. */
  constructor(mark: string, group?: number) {
    this.#mark = mark;
    this.#group = group;
  }

  /** Call when the leader is gone: its id may come back as another process's, and the mark finds the others. */
  forgetGroup(): void {
    if (hasProc()) this.#group = undefined;
  }

  /** Live members now. */
  find(): number[] {
    const rows = look();
    const members = new Set<number>();
    for (const row of rows) if (this.#isMember(row)) members.add(row.pid);
    for (let before = -1; before !== members.size; ) {
      before = members.size;
      for (const row of rows) if (members.has(row.parent)) members.add(row.pid);
    }
    members.delete(process.pid);
    for (const row of rows) if (members.has(row.pid)) this.#seen.set(row.pid, row.startedAt);
    return [...members];
  }

  signal(signal: NodeJS.Signals): void {
    if (signal === 'SIGKILL') forgetLook();
    for (const pid of this.find()) sendSignal(pid, signal);
    if (this.#group !== undefined) sendSignal(-this.#group, signal);
  }

  /** Ends all members: SIGTERM, `graceMs` to go, then SIGKILL until none is left. */
  async end(graceMs: number): Promise<void> {
    this.signal('SIGTERM');
    const deadline = performance.now() + graceMs;
    while (!(await this.#isGone())) {
      if (performance.now() >= deadline) return await this.#kill();
      await sleep(POLL_MS);
    }
  }

  async #kill(): Promise<void> {
    for (let round = 0; round < MAX_KILL_ROUNDS && !(await this.#isGone()); round++) {
      this.signal('SIGKILL');
      await sleep(POLL_MS);
    }
  }

  /** Nothing twice in a row: a process in the middle of an exec has no environment to read, and so no mark, for a moment. */
  async #isGone(): Promise<boolean> {
    for (let looks = 0; looks < 2; looks++) {
      forgetLook();
      if (this.#isAlive()) return false;
      await sleep(POLL_MS);
    }
    return true;
  }

  #isAlive(): boolean {
    return this.find().length > 0 || (this.#group !== undefined && !hasProc() && groupExists(this.#group));
  }

  #isMember(row: Row): boolean {
    if (row.pid === this.#group || row.group === this.#group) return true;
    if (this.#seen.get(row.pid) === row.startedAt) return true;
    // Older than we are, so not ours: most of a busy machine, whose environments need no look.
    return Number(row.startedAt) >= ownStart() && hasMark(row.pid, this.#mark);
  }
}

export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone already.
  }
}

/**
 * What is alive now. Trees that end together look at the same moment, again and again, and a look costs milliseconds: those
 * of one turn of the event loop are one. Who must not miss what was started since forgets the last look first.
 */
function look(): readonly Row[] {
  if (!latest) {
    latest = { rows: listProcesses(), environments: new Map() };
    setImmediate(forgetLook);
  }
  return latest.rows;
}

interface Look {
  readonly rows: readonly Row[];
  readonly environments: Map<number, string>;
}

let latest: Look | undefined;

function forgetLook(): void {
  latest = undefined;
}

/** All live processes; none where there is no `/proc`. Zombies are not alive. */
function listProcesses(): Row[] {
  const rows: Row[] = [];
  for (const name of readProc()) {
    if (!/^\d+$/.test(name)) continue;
    const fields = statFields(name);
    if (fields.length <= STARTED_AT || fields[0] === 'Z' || fields[0] === 'X') continue;
    const startedAt = fields[STARTED_AT]!;
    rows.push({ pid: Number(name), parent: Number(fields[1]), group: Number(fields[2]), startedAt });
  }
  return rows;
}

const STARTED_AT = 19;

/** Fields of `/proc/PID/stat` from the state on; the name before it may hold anything, parentheses too. */
function statFields(pid: string): string[] {
  const stat = readQuietly(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

let startedAt: number | undefined;

/** When this program started, in ticks since boot. */
function ownStart(): number {
  startedAt ??= Number(statFields(String(process.pid))[STARTED_AT] ?? 0);
  return startedAt;
}

function hasMark(pid: number, mark: string): boolean {
  let environment = latest?.environments.get(pid);
  if (environment === undefined) {
    const read = readQuietly(`/proc/${pid}/environ`);
    environment = read.includes(`${MARK_VARIABLE}=`) ? read : ''; // the others' are not worth keeping
    latest?.environments.set(pid, environment);
  }
  return environment.includes(`${MARK_VARIABLE}=${mark}`);
}

function hasProc(): boolean {
  return existsSync('/proc/self/stat');
}

function readProc(): string[] {
  try {
    return readdirSync('/proc');
  } catch {
    return [];
  }
}

function readQuietly(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return ''; // It ended meanwhile, or is another user's.
  }
}

function groupExists(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch {
    return false;
  }
}

/**
 * Stand-ins for protected paths that do not exist. bubblewrap needs something to mount on, so an empty directory (or
 * file) is made on the host before a run and removed after it. A neighbour may be using the same stand-in, and removing
 * it would silently detach the mount inside the neighbour; so every user leaves a marker, and only the last one removes.
 *
 * On disk: `claims/<hash of path>/<pid>-<start ticks>-<random>`, each holding a `Marker`. One lock guards them all, held
 * for about a millisecond. Inside one process a count per path spares the disk and the lock.
 */
import { createHash, randomUUID } from 'node:crypto';
import {
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../lib/index.js';
import type { FileView } from './files.js';
import type { SandboxState } from './state.js';

export interface Placeholder {
  readonly path: string;
  readonly kind: 'dir' | 'file';
}

export interface Claim {
  /** Gives the stand-ins back; removes those nobody else uses. Never throws. */
  release(): Promise<void>;
}

interface Marker extends Placeholder {
  /** Absent for the moment between the promise and the making. */
  readonly dev?: number;
  readonly ino?: number;
  readonly bootId: string;
  readonly pidNamespace: string;
  readonly madeAtMs: number;
}

interface Held {
  users: number;
  readonly marker: Marker;
  readonly file: string;
}

export class Claims {
  readonly #dir: string;
  readonly #lock: string;
  readonly #held = new Map<string, Held>();
  readonly #self = describeSelf();
  #collected = false;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(state: SandboxState) {
    this.#dir = state.claimsDir;
    this.#lock = join(state.claimsDir, 'lock');
  }

  /**
   * Plans and claims in one step, so that nobody removes a stand-in in between. `plan` gets a view in which stand-ins
   * count as missing, and says which ones it needs. One that cannot be made (no right to write there) is left out: the
   * command, which has no more rights, cannot make it either.
   */
  async acquire<T>(
    files: FileView,
    plan: (files: FileView) => { readonly result: T; readonly needs: readonly Placeholder[] },
  ): Promise<{ readonly result: T; readonly claim: Claim }> {
    if (this.#collected) {
      const { result, needs } = plan(this.#view(files));
      if (needs.every((need) => this.#held.has(need.path) && exists(need.path))) {
        for (const need of needs) this.#held.get(need.path)!.users++;
        return { result, claim: this.#claim(needs) };
      }
    }
    return await this.#locked(() => {
      this.#collect();
      const { result, needs } = plan(this.#view(files));
      return { result, claim: this.#claim(needs.filter((need) => this.#take(need))) };
    });
  }

  /** Markers are written before the stand-in is made, so a stand-in without a marker is never seen. */
  #view(files: FileView): FileView {
    const active = new Set(listQuietly(this.#dir));
    const isPlaceholder = (path: string): boolean => {
      const held = this.#held.get(path);
      if (held !== undefined) return isUntouched(held.marker);
      return active.has(hashOf(path)) && this.#markers(path).some(({ marker }) => isUntouched(marker));
    };
    if (active.size === 0 && this.#held.size === 0) return files;
    return { ...files, kind: (path) => (isPlaceholder(path) ? 'missing' : files.kind(path)) };
  }

  #claim(taken: readonly Placeholder[]): Claim {
    let open = true;
    const release = async (): Promise<void> => {
      if (!open) return;
      open = false;
      if (taken.length > 0) await this.#release(taken);
    };
    return { release };
  }

  async #release(taken: readonly Placeholder[]): Promise<void> {
    const last: Held[] = [];
    for (const { path } of taken) {
      const held = this.#held.get(path);
      if (held !== undefined && --held.users === 0) last.push(held);
    }
    if (last.length === 0) return;
    await this.#locked(() => {
      for (const held of last) {
        if (held.users > 0) continue;
        this.#held.delete(held.marker.path);
        unlinkQuietly(held.file);
        this.#removeUnused(held.marker);
      }
    });
  }

  #take(need: Placeholder): boolean {
    const held = this.#held.get(need.path);
    if (held !== undefined && exists(need.path)) {
      held.users++;
      return true;
    }
    const folder = join(this.#dir, hashOf(need.path));
    makeFolder(folder, 0o700);
    const file = join(folder, `${process.pid}-${startTicks(process.pid)}-${randomUUID().slice(0, 8)}`);
    const promised: Marker = { ...need, ...this.#self, madeAtMs: Date.now() };
    writeFileSync(file, JSON.stringify(promised));
    const place = makePlaceholder(need);
    if (place === undefined) {
      unlinkQuietly(file);
      removeFolder(folder);
      return false;
    }
    const marker = { ...promised, ...place };
    writeFileSync(file, JSON.stringify(marker));
    this.#held.set(need.path, { users: (held?.users ?? 0) + 1, marker, file });
    return true;
  }

  /** Removes the stand-in when no live marker is left and it is still the empty thing that was made. */
  #removeUnused(marker: Marker): void {
    for (const other of this.#markers(marker.path)) {
      if (this.#isAlive(other.marker)) return;
      unlinkQuietly(other.file);
    }
    removeFolder(join(this.#dir, hashOf(marker.path)));
    removePlaceholder(marker);
  }

  /** Once per process: clears what killed processes left behind. */
  #collect(): void {
    if (this.#collected) return;
    this.#collected = true;
    for (const name of listQuietly(this.#dir)) {
      const folder = join(this.#dir, name);
      const dead = this.#markersIn(folder).filter(({ marker }) => !this.#isAlive(marker));
      for (const { file } of dead) unlinkQuietly(file);
      if (dead[0] !== undefined) this.#removeUnused(dead[0].marker);
    }
  }

  #markers(path: string): { marker: Marker; file: string }[] {
    return this.#markersIn(join(this.#dir, hashOf(path)));
  }

  #markersIn(folder: string): { marker: Marker; file: string }[] {
    return listQuietly(folder).flatMap((name) => {
      const file = join(folder, name);
      const marker = readMarker(file);
      return marker === undefined ? [] : [{ marker: { ...marker, ...ownerOf(name) }, file }];
    });
  }

  #isAlive(marker: Marker & { readonly pid?: number; readonly ticks?: string }): boolean {
    if (marker.bootId !== this.#self.bootId) return false;
    if (marker.pidNamespace !== this.#self.pidNamespace) return Date.now() - marker.madeAtMs < FOREIGN_CLAIM_MS;
    return marker.pid !== undefined && startTicks(marker.pid) === marker.ticks;
  }

  /** Runs `work` alone among the processes of this user. The lock of a dead holder is broken after three seconds. */
  async #locked<T>(work: () => T): Promise<T> {
    const mine = this.#turn.then(async () => {
      await takeLock(this.#lock);
      try {
        return work();
      } finally {
        rmdirSync(this.#lock);
      }
    });
    this.#turn = mine.catch(() => undefined);
    return await mine;
  }
}

/** A container with its own process numbers shares our state: its claims are believed for a day. */
const FOREIGN_CLAIM_MS = 24 * 3600 * 1000;
const LOCK_STALE_MS = 3000;
const LOCK_RETRY_MS = 3;

async function takeLock(lock: string): Promise<void> {
  for (;;) {
    try {
      mkdirSync(lock);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    breakStaleLock(lock);
    await new Promise((resolve) => setTimeout(resolve, LOCK_RETRY_MS));
  }
}

function breakStaleLock(lock: string): void {
  try {
    if (Date.now() - statSync(lock).mtimeMs > LOCK_STALE_MS) rmdirSync(lock);
  } catch {
    // It was given back meanwhile.
  }
}

function makePlaceholder({ path, kind }: Placeholder): { dev: number; ino: number } | undefined {
  try {
    if (kind === 'dir') mkdirSync(path, { mode: 0o755 });
    else closeSync(openSync(path, 'wx', 0o444));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return undefined;
  }
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : { dev: found.dev, ino: found.ino };
}

function removePlaceholder(marker: Marker): void {
  if (!isUntouched(marker)) return;
  try {
    if (marker.kind === 'dir') rmdirSync(marker.path);
    else unlinkSync(marker.path);
  } catch {
    // Someone filled it meanwhile: it is theirs now.
  }
}

function isUntouched(marker: Marker): boolean {
  try {
    const found = lstatSync(marker.path, { throwIfNoEntry: false });
    if (found === undefined) return false;
    if (marker.ino !== undefined && (found.ino !== marker.ino || found.dev !== marker.dev)) return false;
    return marker.kind === 'dir' ? found.isDirectory() && readdirSync(marker.path).length === 0 : found.size === 0;
  } catch {
    return false;
  }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function hashOf(path: string): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 32);
}

function ownerOf(name: string): { pid: number; ticks: string } {
  const [pid = '', ticks = ''] = name.split('-');
  return { pid: Number(pid), ticks };
}

function readMarker(file: string): Marker | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Marker;
  } catch {
    return undefined;
  }
}

/** Start time of a process in clock ticks, its identity beside the number; empty when it is gone. */
function startTicks(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? '' : (fields[19] ?? '');
  } catch {
    return '';
  }
}

function describeSelf(): { bootId: string; pidNamespace: string } {
  try {
    return {
      bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
      pidNamespace: readlinkSync('/proc/self/ns/pid'),
    };
  } catch {
    return { bootId: '', pidNamespace: '' };
  }
}

function listQuietly(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Only when no marker is left in it; whoever leaves the last one removes it. */
function removeFolder(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Someone else's marker is in it.
  }
}

function unlinkQuietly(file: string): void {
  rmSync(file, { force: true });
}

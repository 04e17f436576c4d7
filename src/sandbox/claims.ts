/**
 * Stand-ins for protected paths that do not exist. bubblewrap needs something to mount on, so an empty directory (or
 * file) is made on the host before a run and removed after it. A neighbour may be using the same stand-in, and removing
 * it would silently detach the mount inside the neighbour; so every user leaves a marker, and only the last one removes.
 *
 * A marker is a link in the claims directory, `<hash of path>.<pid>-<start ticks>-<random>`, whose target text is the
 * `Marker` (a link is made in one step and costs a fraction of a file). One lock guards them all. Inside a process a
 * count per path spares both. Removing a directory can cost more than the run itself, so it happens a moment later, off
 * the path of the command, and not at all when the next command comes first.
 */
import { createHash, randomUUID } from 'node:crypto';
import {
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileView } from './files.js';
import { describeSelf, type Identity, startTicks } from './identity.js';
import type { SandboxState } from './state.js';

export interface Placeholder {
  readonly path: string;
  readonly kind: 'dir' | 'file';
}

export interface Claim {
  /** Gives the stand-ins back. Those that nobody uses any more are removed a moment later. */
  release(): void;
}

interface Marker extends Placeholder, Identity {
  readonly madeAtMs: number;
}

/** A marker as found on disk, with its owner. */
interface Found {
  readonly marker: Marker;
  readonly file: string;
  readonly pid: number;
  readonly ticks: string;
}

interface Held {
  users: number;
  readonly marker: Marker;
  /** What was made, to tell it from something else of the same name. */
  readonly dev: number;
  readonly ino: number;
  readonly file: string;
}

/** How long an unused stand-in waits for the next command. */
const LINGER_MS = 100;

export class Claims {
  readonly #dir: string;
  readonly #lock: string;
  readonly #held = new Map<string, Held>();
  readonly #self = describeSelf();
  #collected = false;
  #turn: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(state: SandboxState) {
    this.#dir = state.claimsDir;
    this.#lock = join(state.claimsDir, 'lock');
    open.add(this);
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
      if (needs.every((need) => this.#holds(need.path))) {
        for (const need of needs) this.#held.get(need.path)!.users++;
        return { result, claim: this.#claim(needs) };
      }
    }
    return await this.#locked(async () => {
      this.#collect();
      const { result, needs } = plan(this.#view(files));
      return { result, claim: this.#claim(needs.filter((need) => this.#take(need))) };
    });
  }

  /** Removes what nobody uses now. Resolves when it is gone. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (![...this.#held.values()].some(({ users }) => users === 0)) return;
    await this.#locked(async () => {
      for (const held of this.#forgetUnused()) {
        await unlink(held.file).catch(() => undefined);
        if (this.#isUnclaimed(held.marker.path) && isSame(held)) await removeQuietly(held.marker);
      }
    });
  }

  async close(): Promise<void> {
    await this.flush();
    if (this.#held.size === 0) open.delete(this);
  }

  /** For the end of the process, when nothing can be awaited: every stand-in of ours, used or not. */
  closeNow(): void {
    for (const held of this.#held.values()) held.users = 0;
    for (const held of this.#forgetUnused()) {
      unlinkQuietly(held.file);
      if (this.#isUnclaimed(held.marker.path) && isSame(held)) removeNow(held.marker);
    }
  }

  #forgetUnused(): Held[] {
    const unused = [...this.#held.values()].filter(({ users }) => users === 0);
    for (const { marker } of unused) this.#held.delete(marker.path);
    return unused;
  }

  #holds(path: string): boolean {
    const held = this.#held.get(path);
    return held !== undefined && isSame(held);
  }

  /** Markers are written before the stand-in is made, so a stand-in without a marker is never seen. */
  #view(files: FileView): FileView {
    const names = listQuietly(this.#dir);
    if (names.length === 0) return files;
    const claimed = new Set(names.map((name) => name.slice(0, name.indexOf('.'))));
    const isPlaceholder = (path: string): boolean =>
      this.#held.has(path) || claimed.has(hashOf(path)) ? isEmpty(path) : false;
    return { ...files, kind: (path) => (isPlaceholder(path) ? 'missing' : files.kind(path)) };
  }

  #claim(taken: readonly Placeholder[]): Claim {
    let held = true;
    return {
      release: () => {
        if (!held) return;
        held = false;
        for (const { path } of taken) {
          const entry = this.#held.get(path);
          if (entry !== undefined) entry.users--;
        }
        if (taken.length > 0) this.#flushLater();
      },
    };
  }

  #flushLater(): void {
    clearTimeout(this.#timer);
    // Its failure is told by the next `flush`; at the end of the process `closeNow` does the same.
    this.#timer = setTimeout(() => void this.flush().catch(() => undefined), LINGER_MS).unref();
  }

  #take(need: Placeholder): boolean {
    const held = this.#held.get(need.path);
    if (held !== undefined && isSame(held)) {
      held.users++;
      return true;
    }
    if (held !== undefined) unlinkQuietly(held.file);
    const marker: Marker = { ...need, ...this.#self, madeAtMs: Date.now() };
    const owner = `${process.pid}-${startTicks(process.pid)}-${randomUUID().slice(0, 8)}`;
    const file = join(this.#dir, `${hashOf(need.path)}.${owner}`);
    symlinkSync(JSON.stringify(marker), file);
    const made = makePlaceholder(need);
    if (made === undefined) {
      unlinkQuietly(file);
      this.#held.delete(need.path);
      return false;
    }
    this.#held.set(need.path, { users: (held?.users ?? 0) + 1, marker, file, ...made });
    return true;
  }

  /** True when no live process claims `path`; markers of dead ones are cleared on the way. */
  #isUnclaimed(path: string): boolean {
    const prefix = `${hashOf(path)}.`;
    let unclaimed = true;
    for (const found of this.#markers((name) => name.startsWith(prefix))) {
      if (this.#isAlive(found)) unclaimed = false;
      else unlinkQuietly(found.file);
    }
    return unclaimed;
  }

  /** Once per process: clears what killed processes left behind. */
  #collect(): void {
    if (this.#collected) return;
    this.#collected = true;
    const dead = this.#markers(() => true).filter((found) => !this.#isAlive(found));
    for (const { marker } of dead) if (this.#isUnclaimed(marker.path) && isEmpty(marker.path)) removeNow(marker);
  }

  #markers(wanted: (name: string) => boolean): Found[] {
    return listQuietly(this.#dir)
      .filter(wanted)
      .flatMap((name) => readMarker(join(this.#dir, name), name) ?? []);
  }

  #isAlive({ marker, pid, ticks }: Found): boolean {
    if (marker.bootId !== this.#self.bootId) return false;
    if (marker.pidNamespace !== this.#self.pidNamespace) return Date.now() - marker.madeAtMs < FOREIGN_CLAIM_MS;
    return startTicks(pid) === ticks;
  }

  /** Runs `work` alone among the processes of this user. The lock of a dead holder is broken after three seconds. */
  async #locked<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(async () => {
      await takeLock(this.#lock);
      try {
        return await work();
      } finally {
        unlinkQuietly(this.#lock);
      }
    });
    this.#turn = mine.catch(() => undefined);
    return await mine;
  }
}

const open = new Set<Claims>();
process.on('exit', () => {
  for (const claims of open) claims.closeNow();
});

/** A container with its own process numbers shares our state: its claims are believed for a day. */
const FOREIGN_CLAIM_MS = 24 * 3600 * 1000;
const LOCK_STALE_MS = 3000;
const LOCK_RETRY_MS = 3;

async function takeLock(lock: string): Promise<void> {
  for (;;) {
    try {
      symlinkSync(String(process.pid), lock);
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Someone removed our whole state: then nobody else can be working on it either.
      if (code === 'ENOENT') return;
      if (code !== 'EEXIST') throw error;
    }
    const found = lstatSync(lock, { throwIfNoEntry: false });
    if (found !== undefined && Date.now() - found.mtimeMs > LOCK_STALE_MS) unlinkQuietly(lock);
    else await new Promise((resolve) => setTimeout(resolve, LOCK_RETRY_MS));
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

/** Someone may have filled it meanwhile; then it is theirs, and the call fails. */
async function removeQuietly({ path, kind }: Placeholder): Promise<void> {
  if (kind === 'dir') await rmdir(path).catch(() => undefined);
  else if (isEmpty(path)) await unlink(path).catch(() => undefined);
}

function removeNow({ path, kind }: Placeholder): void {
  if (kind === 'file') {
    if (isEmpty(path)) unlinkQuietly(path);
    return;
  }
  try {
    rmdirSync(path);
  } catch {
    // As above.
  }
}

function isSame({ marker, dev, ino }: Held): boolean {
  try {
    const found = lstatSync(marker.path, { throwIfNoEntry: false });
    return found !== undefined && found.ino === ino && found.dev === dev && isEmpty(marker.path);
  } catch {
    return false; // the folder it lay in is a file now, or closed to us: not ours to remove
  }
}

function isEmpty(path: string): boolean {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return false;
    return found.isDirectory() ? readdirSync(path).length === 0 : found.isFile() && found.size === 0;
  } catch {
    return false;
  }
}

function hashOf(path: string): string {
  const known = hashes.get(path) ?? createHash('sha256').update(path).digest('hex').slice(0, 32);
  if (hashes.size >= MAX_HASHES) hashes.clear();
  hashes.set(path, known);
  return known;
}

const hashes = new Map<string, string>();
const MAX_HASHES = 5000;

function readMarker(file: string, name: string): Found | undefined {
  const [, pid = '', ticks = ''] = /\.(\d+)-(\d*)-/.exec(name) ?? [];
  if (pid === '') return undefined;
  try {
    return { marker: JSON.parse(readlinkSync(file)) as Marker, file, pid: Number(pid), ticks };
  } catch {
    return undefined;
  }
}

function listQuietly(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function unlinkQuietly(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // It is gone already.
  }
}

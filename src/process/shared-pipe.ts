/**
 * One pipe for both output streams of a child, so that what it writes to stdout and stderr keeps its order. Node itself
 * only makes sockets, one per stream: they lose the order, and `/dev/stdout` cannot be opened on a socket. The pipe is
 * a FIFO that loses its name at once.
 */
import { spawn } from 'node:child_process';
import { closeSync, constants, fstatSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SharedPipe {
  /** Non-blocking; at its end when all writers are gone. */
  readonly readFd: number;
  /** Blocking, for the child. */
  readonly writeFd: number;
}

/** Made at once, as starting `mkfifo` is what costs. Two idle descriptors are not worth counting. */
const BATCH = 2;

const idle: number[] = [];
let refill: Promise<void> | undefined;
let unavailable = process.platform !== 'linux';

/** Undefined where such pipes cannot be made. The caller closes both descriptors. */
export async function openSharedPipe(): Promise<SharedPipe | undefined> {
  while (idle.length === 0 && !unavailable) await startRefill();
  const fd = idle.pop();
  if (fd === undefined) return undefined;
  const pipe = split(fd);
  // The next pair is made while this command runs. It never fails; the next caller sees what came of it.
  if (idle.length === 0) void startRefill();
  return pipe;
}

function startRefill(): Promise<void> {
  refill ??= fill().finally(() => {
    refill = undefined;
  });
  return refill;
}

/** Two ends from one descriptor that is open both ways (through which the end would never show). */
function split(fd: number): SharedPipe {
  const path = `/proc/self/fd/${fd}`;
  try {
    const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return { readFd, writeFd: openSync(path, constants.O_WRONLY) };
  } finally {
    closeSync(fd);
  }
}

async function fill(): Promise<void> {
  let place: string | undefined;
  const remove = () => {
    if (place !== undefined) rmSync(place, { recursive: true, force: true });
  };
  process.once('exit', remove);
  try {
    place = makePlace();
    const paths = Array.from({ length: BATCH }, (_, n) => join(place!, `${n}`));
    await runMkfifo(paths);
    for (const path of paths) idle.push(openFifo(path));
  } catch {
    unavailable = idle.length === 0;
  } finally {
    process.off('exit', remove);
    remove();
  }
}

/** `/dev/shm` first: sandboxed commands have their own, so that none can meddle in the moment the name exists. */
function makePlace(): string {
  try {
    return mkdtempSync('/dev/shm/turnwright-');
  } catch {
    return mkdtempSync(join(tmpdir(), 'turnwright-'));
  }
}

function runMkfifo(paths: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('mkfifo', ['-m', '600', ...paths], { stdio: 'ignore' });
    child.on('error', reject);
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`mkfifo exited with ${code}`))));
  });
}

function openFifo(path: string): number {
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  if (fstatSync(fd).isFIFO()) return fd;
  closeSync(fd);
  throw new Error(`${path} is no pipe`);
}

/**
 * One pipe for both output streams of a child, so that what it writes to stdout and stderr keeps its order. Node itself
 * only makes sockets, one per stream: they lose the order, and `/dev/stdout` cannot be opened on a socket. The pipe is
 * a FIFO that loses its name at once. Making one costs a process, so those that came to a clean end are used again.
 */
import { spawn } from 'node:child_process';
import { closeSync, constants, fstatSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SharedPipe {
  /** Non-blocking; at its end when all writers are gone. The caller closes it. */
  readonly readFd: number;
  /** Blocking, for the child. The caller closes it. */
  readonly writeFd: number;
  /** To be called after both are closed. `ended`: the reader has seen the end, so nobody writes any more. */
  release(ended: boolean): void;
}

/** Two idle descriptors are not worth counting. */
const MAX_IDLE = 2;
/** Linux: a descriptor that holds a file without opening it, so that it counts neither as reader nor as writer. */
const O_PATH = 0o10000000;

const idle: number[] = [];
let waiting = 0;
let filling: Promise<void> | undefined;
let unavailable = process.platform !== 'linux';

/** Undefined where such pipes cannot be made. */
export async function openSharedPipe(): Promise<SharedPipe | undefined> {
  waiting += 1;
  while (idle.length === 0 && !unavailable) {
    filling ??= fill().finally(() => {
      filling = undefined;
    });
    await filling;
  }
  waiting -= 1;
  const held = idle.pop();
  return held === undefined ? undefined : openBothEnds(held);
}

function openBothEnds(held: number): SharedPipe {
  const path = `/proc/self/fd/${held}`;
  const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writeFd = openSync(path, constants.O_WRONLY);
  return {
    readFd,
    writeFd,
    release(ended) {
      if (ended && idle.length < MAX_IDLE && !hasReader(path)) idle.push(held);
      else closeSync(held);
    },
  };
}

/** Whether a child that is still there has opened the pipe for itself: it must not read what others print. */
function hasReader(path: string): boolean {
  try {
    closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch {
    return false;
  }
}

async function fill(): Promise<void> {
  let place: string | undefined;
  const remove = () => {
    if (place !== undefined) rmSync(place, { recursive: true, force: true });
  };
  process.once('exit', remove);
  try {
    await undefined; // those who ask in the same moment are served together
    place = makePlace();
    const paths = Array.from({ length: waiting }, (_, n) => join(place!, `${n}`));
    await runMkfifo(paths);
    for (const path of paths) idle.push(holdFifo(path));
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

function holdFifo(path: string): number {
  const held = openSync(path, O_PATH | constants.O_NOFOLLOW);
  if (fstatSync(held).isFIFO()) return held;
  closeSync(held);
  throw new Error(`${path} is no pipe`);
}

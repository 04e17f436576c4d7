/**
 * Appends to one rollout. Holds the thread's lock and file, knows the last record's number, and checks before every
 * write that the file is as long as it left it.
 */
import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { makeFolder } from '../lib/index.js';
import { TurnwrightError } from '../protocol/index.js';
import { homeWriteError } from './home-write.js';
import { corrupt, decodeLine } from './rollout-line.js';
import { takeWriterLock, type WriterLock } from './writer-lock.js';

const flushToDisk = promisify(fdatasync);

export interface RolloutWriter {
  /** Number of the last record in the file; 0 for a new one. */
  readonly lastSeq: number;
  /** Writes whole lines that end with record `lastSeq`. All of them are written, or none. */
  write(lines: string, lastSeq: number): void;
  /** Waits until what was written survives a power cut. */
  flush(): Promise<void>;
  close(): void;
}

export interface RolloutPlace {
  readonly home: string;
  readonly threadId: string;
  readonly path: string;
  /** False: create the file. */
  readonly exists: boolean;
  /** The folder's entry of a new file must survive a power cut too. */
  readonly durable: boolean;
}

/** Throws `TW_THREAD_BUSY`, `TW_HOME_WRITE` or `TW_THREAD_CORRUPT`. */
export function openRolloutWriter(place: RolloutPlace): RolloutWriter {
  const lock = takeWriterLock(place.home, place.threadId);
  let fd: number | undefined;
  try {
    fd = openFile(place);
    const { lastSeq, size } = place.exists ? findEnd(fd, place.path) : { lastSeq: 0, size: 0 };
    return new OpenRollout(place.path, fd, lock, lastSeq, size);
  } catch (error) {
    if (fd !== undefined) closeSync(fd);
    lock.release();
    throw error;
  }
}

class OpenRollout implements RolloutWriter {
  readonly #path: string;
  readonly #fd: number;
  readonly #lock: WriterLock;
  #size: number;
  #lastSeq: number;

  constructor(path: string, fd: number, lock: WriterLock, lastSeq: number, size: number) {
    this.#path = path;
    this.#fd = fd;
    this.#lock = lock;
    this.#lastSeq = lastSeq;
    this.#size = size;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  write(lines: string, lastSeq: number): void {
    const { size, nlink } = fstatSync(this.#fd);
    if (nlink === 0) throw conflict(this.#path, 'was removed');
    if (size !== this.#size) throw conflict(this.#path, 'was changed');
    const bytes = Buffer.from(lines);
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(this.#fd, bytes, done);
    } catch (error) {
      this.#undo();
      throw homeWriteError(this.#path, error);
    }
    this.#size += bytes.length;
    this.#lastSeq = lastSeq;
  }

  /** A full disk may have taken half of it. If it cannot be undone, the next opening cuts the torn line off. */
  #undo(): void {
    try {
      ftruncateSync(this.#fd, this.#size);
    } catch {
      this.#size = -1; // nothing more is written through this handle
    }
  }

  async flush(): Promise<void> {
    try {
      await flushToDisk(this.#fd);
    } catch (error) {
      throw homeWriteError(this.#path, error);
    }
  }

  close(): void {
    closeSync(this.#fd);
    this.#lock.release();
  }
}

function openFile(place: RolloutPlace): number {
  const { O_RDWR, O_APPEND, O_CREAT, O_EXCL } = constants;
  const folder = path.dirname(place.path);
  try {
    if (place.exists) return openSync(place.path, O_RDWR | O_APPEND);
    makeFolder(folder);
    const fd = openSync(place.path, O_RDWR | O_APPEND | O_CREAT | O_EXCL, 0o600);
    if (place.durable) syncFolder(folder);
    return fd;
  } catch (error) {
    throw homeWriteError(place.path, error);
  }
}

function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

const FIRST_LOOK = 64 * 1024;

/** Reads back from the end to the last record, and cuts off what a crash left after the last newline. */
function findEnd(fd: number, file: string): { lastSeq: number; size: number } {
  const full = fstatSync(fd).size;
  for (let span = FIRST_LOOK; ; span *= 8) {
    const from = Math.max(0, full - span);
    const tail = readRange(fd, from, full);
    const whole = tail.lastIndexOf('\n') + 1;
    const lastSeq = lastRecordIn(tail.subarray(0, whole), from > 0);
    if (lastSeq === undefined && from > 0) continue;
    if (lastSeq === undefined && whole > 0) throw corrupt(file, 1, 'no line of the file is a record');
    const size = from + whole;
    if (size !== full) truncateTo(fd, size, file);
    return { lastSeq: lastSeq ?? 0, size };
  }
}

/** `cut`: the first line may be the second half of one. */
function lastRecordIn(tail: Buffer, cut: boolean): number | undefined {
  let end = tail.length - 1;
  while (end > 0) {
    const start = tail.lastIndexOf('\n', end - 1) + 1;
    if (start === 0 && cut) return undefined;
    const stored = decodeLine(tail.toString('utf8', start, end));
    if (stored) return stored.seq;
    end = start - 1;
  }
  return undefined;
}

function readRange(fd: number, from: number, to: number): Buffer {
  const bytes = Buffer.alloc(to - from);
  let done = 0;
  while (done < bytes.length) {
    const got = readSync(fd, bytes, done, bytes.length - done, from + done);
    if (got === 0) break;
    done += got;
  }
  return bytes.subarray(0, done);
}

function truncateTo(fd: number, size: number, file: string): void {
  try {
    ftruncateSync(fd, size);
  } catch (error) {
    throw homeWriteError(file, error);
  }
}

function conflict(file: string, what: 'was changed' | 'was removed'): TurnwrightError {
  const remedy = what === 'was changed' ? 'load the thread again' : 'what is said from here on would be lost';
  return new TurnwrightError('TW_STORE_CONFLICT', `${file} ${what} by another program; ${remedy}`, {
    facts: { path: file },
  });
}

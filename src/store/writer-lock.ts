/**
 * One writer per thread: a file that names its holder by process id and process start time, so that a lock left by a
 * dead process is recognised even after its id is used again. It is created by `link`, complete from its first moment.
 */
import { linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { makeFolder } from '../lib/index.js';
import { TurnwrightError } from '../protocol/index.js';
import { homeWriteError } from './home-write.js';

interface Holder {
  readonly pid: number;
  /** Start time of the process, in the kernel's ticks since boot; absent where the system does not tell. */
  readonly started?: string;
  readonly host: string;
}

export interface WriterLock {
  release(): void;
}

/** Throws `TW_THREAD_BUSY` naming the holder, or `TW_HOME_WRITE`. */
export function takeWriterLock(home: string, threadId: string): WriterLock {
  const file = path.join(home, 'locks', `${threadId}.lock`);
  const own = JSON.stringify(ownHolder());
  for (let attempt = 0; attempt < 3; attempt++) {
    if (tryCreate(file, own)) return { release: () => releaseOwn(file, own) };
    const holder = readHolder(file);
    if (holder !== 'gone' && isAlive(holder)) throw busy(threadId, holder);
    if (holder !== 'gone') removeStale(file, holder);
  }
  throw busy(threadId, undefined);
}

function tryCreate(file: string, content: string): boolean {
  const draft = `${file}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  try {
    makeFolder(path.dirname(file));
    writeFileSync(draft, content, { flag: 'wx' });
  } catch (error) {
    throw homeWriteError(file, error);
  }
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw homeWriteError(file, error);
  } finally {
    unlinkSync(draft);
  }
}

function readHolder(file: string): Holder | 'unreadable' | 'gone' {
  try {
    const holder = JSON.parse(readFileSync(file, 'utf8')) as Partial<Holder>;
    return typeof holder.pid === 'number' && typeof holder.host === 'string' ? (holder as Holder) : 'unreadable';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'gone' : 'unreadable';
  }
}

/**
 * Removes a dead holder's lock unless someone else has just replaced it. Between the look and the removal another
 * process may do the same; the store's check of the file size before each write catches what slips through.
 */
function removeStale(file: string, seen: Holder | 'unreadable'): void {
  if (JSON.stringify(readHolder(file)) !== JSON.stringify(seen)) return;
  try {
    unlinkSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw homeWriteError(file, error);
  }
}

function releaseOwn(file: string, own: string): void {
  try {
    if (readFileSync(file, 'utf8') === own) unlinkSync(file);
  } catch {
    // Gone already, or the home has become unwritable: a dead process's lock is taken over anyway.
  }
}

function ownHolder(): Holder {
  const started = startOf('self');
  return { pid: process.pid, ...(started === undefined ? {} : { started }), host: os.hostname() };
}

/** Only processes of this machine can be looked at; one of another machine is taken to live. */
function isAlive(holder: Holder | 'unreadable'): boolean {
  if (holder === 'unreadable') return false;
  if (holder.host !== os.hostname()) return true;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  const started = startOf(holder.pid);
  return holder.started === undefined || started === undefined || started === holder.started;
}

/** Field 22 of `/proc/PID/stat`; the program name before it may hold spaces and parentheses. */
function startOf(pid: number | 'self'): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

function busy(threadId: string, holder: Holder | 'unreadable' | undefined): TurnwrightError {
  const who =
    typeof holder !== 'object'
      ? 'another process'
      : `process ${holder.pid}${holder.host === os.hostname() ? '' : ` on ${holder.host}`}`;
  return new TurnwrightError(
    'TW_THREAD_BUSY',
    `thread ${threadId} is open in ${who}; close it there first, or fork the thread`,
    { facts: { threadId, ...(typeof holder === 'object' ? { pid: holder.pid, host: holder.host } : {}) } },
  );
}

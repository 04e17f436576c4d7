/** Where rollouts are: `sessions/YYYY/MM/DD/rollout-<time>-<thread id>.jsonl` under the home, dates in UTC. */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { TurnwrightError } from '../protocol/index.js';

export interface RolloutFile {
  readonly threadId: string;
  readonly path: string;
}

const FILE_NAME = /^rollout-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)-([A-Za-z0-9_-]+)\.jsonl$/;

export function rolloutPath(home: string, threadId: string, atMs: number): string {
  const iso = new Date(atMs).toISOString();
  const time = iso.slice(0, 19).replaceAll(':', '-');
  return path.join(sessionsFolder(home), ...iso.slice(0, 10).split('-'), `rollout-${time}-${threadId}.jsonl`);
}

/** The file a thread has or will get: named after the time in its id, so that the name is known before the file exists. */
export function rolloutPathOf(home: string, threadId: string, nowMs: number): string {
  return rolloutPath(home, threadId, idTimeMs(threadId) ?? nowMs);
}

/** The Unix time inside a UUIDv7. */
function idTimeMs(threadId: string): number | undefined {
  const match = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-/.exec(threadId);
  return match ? Number.parseInt(match[1]! + match[2]!, 16) : undefined;
}

export function sessionsFolder(home: string): string {
  return path.join(home, 'sessions');
}

/** An id is part of file names. Throws `TW_THREAD_UNKNOWN` for anything that could be more than a name. */
export function checkThreadId(threadId: string): void {
  if (!/^[A-Za-z0-9_-]{1,128}$/.test(threadId)) throw unknownThread(threadId);
}

export function unknownThread(wanted: string): TurnwrightError {
  return new TurnwrightError('TW_THREAD_UNKNOWN', `there is no thread ${JSON.stringify(wanted)} here`, {
    facts: { threadId: wanted },
  });
}

/** Undefined when no file holds this thread. */
export async function findRollout(home: string, threadId: string): Promise<string | undefined> {
  checkThreadId(threadId);
  for (const folder of likelyFolders(home, threadId)) {
    const found = (await rolloutsIn(folder)).find((file) => file.threadId === threadId);
    if (found) return found.path;
  }
  for await (const file of walkRollouts(home)) if (file.threadId === threadId) return file.path;
  return undefined;
}

/** Every rollout, newest day first, newest within the day first. */
export async function* walkRollouts(home: string): AsyncGenerator<RolloutFile, void, undefined> {
  for (const year of await foldersIn(sessionsFolder(home), /^\d{4}$/)) {
    for (const month of await foldersIn(year, /^\d\d$/)) {
      for (const day of await foldersIn(month, /^\d\d$/)) yield* await rolloutsIn(day);
    }
  }
}

/** The files' last modification, in Unix milliseconds. Files that vanish meanwhile are left out. */
export async function withModified(
  files: readonly RolloutFile[],
): Promise<readonly { readonly file: RolloutFile; readonly modifiedMs: number }[]> {
  const looked = await Promise.all(
    files.map(async (file) => {
      const facts = await stat(file.path).catch(() => undefined);
      return facts ? [{ file, modifiedMs: facts.mtimeMs }] : [];
    }),
  );
  return looked.flat();
}

/** A UUIDv7 tells its day; the file may be a day later, when the thread was first written. */
function likelyFolders(home: string, threadId: string): readonly string[] {
  const hex = threadId.replaceAll('-', '').slice(0, 12);
  if (threadId[14] !== '7' || !/^[0-9a-f]{12}$/.test(hex)) return [];
  const atMs = Number.parseInt(hex, 16);
  if (atMs > 8.64e15) return [];
  return [0, 86_400_000].map((later) => path.dirname(rolloutPath(home, threadId, atMs + later)));
}

async function rolloutsIn(folder: string): Promise<readonly RolloutFile[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => FILE_NAME.test(name))
    .sort()
    .reverse()
    .map((name) => ({ threadId: FILE_NAME.exec(name)![2]!, path: path.join(folder, name) }));
}

async function foldersIn(folder: string, pattern: RegExp): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => pattern.test(name))
    .sort()
    .reverse()
    .map((name) => path.join(folder, name));
}

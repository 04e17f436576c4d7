/** Finding threads on disk. Only the beginning of a file is read, never the whole. */
import { open } from 'node:fs/promises';
import { type Stored, type ThreadSettings, TurnwrightError, type UserInput } from '../protocol/index.js';
import { findRollout, type RolloutFile, unknownThread, walkRollouts, withModified } from './rollout-files.js';
import { decodeLine } from './rollout-line.js';
import { readThreadNames } from './thread-names.js';

export interface ThreadSummary {
  readonly threadId: string;
  readonly path: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Settings the thread was started with. */
  readonly settings: ThreadSettings;
  /** The first input's text, at most 200 characters. */
  readonly preview: string;
  readonly name?: string;
}

export interface ListOptions {
  readonly home: string;
  readonly limit: number;
  /** Only threads that were started in this folder. */
  readonly cwd?: string;
}

/** Newest first, by their last change. Files that are not threads of ours are passed over. */
export async function listThreads(options: ListOptions): Promise<readonly ThreadSummary[]> {
  const files: RolloutFile[] = [];
  for await (const file of walkRollouts(options.home)) files.push(file);
  const dated = [...(await withModified(files))].sort(
    (a, b) => b.modifiedMs - a.modifiedMs || (a.file.path < b.file.path ? 1 : -1),
  );
  const names = await readThreadNames(options.home);
  const found: ThreadSummary[] = [];
  for (const { file, modifiedMs } of dated) {
    if (found.length >= options.limit) break;
    const summary = await summarize(file, modifiedMs, names.get(file.threadId));
    if (summary && (options.cwd === undefined || summary.settings.turn.cwd === options.cwd)) found.push(summary);
  }
  return found;
}

/** The id of the thread with this id, name, or unique beginning of an id. Throws `TW_THREAD_UNKNOWN`. */
export async function findThread(home: string, wanted: string): Promise<string> {
  if (/^[A-Za-z0-9_-]{1,128}$/.test(wanted) && (await findRollout(home, wanted)) !== undefined) return wanted;
  const matches: string[] = [];
  for await (const file of walkRollouts(home))
    if (wanted !== '' && file.threadId.startsWith(wanted)) matches.push(file.threadId);
  if (matches.length === 0) matches.push(...(await threadsNamed(home, wanted)));
  if (matches.length === 1) return matches[0]!;
  if (matches.length === 0) throw unknownThread(wanted);
  throw new TurnwrightError(
    'TW_THREAD_UNKNOWN',
    `${JSON.stringify(wanted)} fits ${matches.length} threads: ${matches.slice(0, 5).join(', ')}; give more of the id`,
    { facts: { matches } },
  );
}

async function threadsNamed(home: string, name: string): Promise<readonly string[]> {
  const names = [...(await readThreadNames(home))].filter(([, given]) => given === name);
  const present = await Promise.all(
    names.map(async ([id]) => ((await findRollout(home, id)) === undefined ? [] : [id])),
  );
  return present.flat();
}

async function summarize(file: RolloutFile, updatedAtMs: number, name?: string): Promise<ThreadSummary | undefined> {
  const head = await readHead(file.path);
  const started = head[0];
  if (started?.record.type !== 'thread.started') return undefined;
  return {
    threadId: file.threadId,
    path: file.path,
    createdAtMs: started.atMs,
    updatedAtMs: Math.trunc(updatedAtMs),
    settings: started.record.settings,
    preview: previewOf(head),
    ...(name === undefined ? {} : { name }),
  };
}

const HEAD_BYTES = 64 * 1024;

async function readHead(file: string): Promise<readonly Stored[]> {
  const handle = await open(file).catch(() => undefined);
  if (!handle) return [];
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const lines = buffer.toString('utf8', 0, bytesRead).split('\n').slice(0, -1);
    return lines.flatMap((line) => decodeLine(line) ?? []);
  } finally {
    await handle.close();
  }
}

function previewOf(head: readonly Stored[]): string {
  for (const { record } of head) {
    if (record.type === 'input.accepted' && record.item.type === 'userMessage') return textOf(record.item.content);
  }
  return '';
}

function textOf(content: readonly UserInput[]): string {
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join(' ');
  return text.replace(/\s+/g, ' ').trim().slice(0, 200);
}

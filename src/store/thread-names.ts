/** Names that people give to threads: `session_index.jsonl` in the home, one `{id, thread_name, updated_at}` a line. */
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { homeWriteError } from './home-write.js';

/** Thread id → its latest name. */
export async function readThreadNames(home: string): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(indexFile(home), 'utf8').catch(() => '');
  const names = new Map<string, string>();
  for (const line of text.split('\n')) {
    const entry = parseEntry(line);
    if (entry) names.set(entry.id, entry.name);
  }
  return names;
}

/** Throws `TW_HOME_WRITE`. */
export async function nameThread(home: string, threadId: string, name: string, atMs: number): Promise<void> {
  const entry = { id: threadId, thread_name: name, updated_at: new Date(atMs).toISOString() };
  try {
    await mkdir(home, { recursive: true });
    await appendFile(indexFile(home), `${JSON.stringify(entry)}\n`);
  } catch (error) {
    throw homeWriteError(indexFile(home), error);
  }
}

function indexFile(home: string): string {
  return path.join(home, 'session_index.jsonl');
}

function parseEntry(line: string): { id: string; name: string } | undefined {
  try {
    const { id, thread_name: name } = JSON.parse(line) as Record<string, unknown>;
    return typeof id === 'string' && typeof name === 'string' ? { id, name } : undefined;
  } catch {
    return undefined;
  }
}

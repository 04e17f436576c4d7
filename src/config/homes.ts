/**
 * Where our files are. `TURNWRIGHT_HOME`, else `~/.turnwright`, is ours and the only one we write to. Codex's home is
 * read as a fallback so that existing set-ups work: `CODEX_HOME`, else `~/.codex` unless `TURNWRIGHT_HOME` was set (who
 * names a home wants that one). Each file falls back by itself: the first home that has it wins.
 */
import { access } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

export interface Homes {
  /** Absolute; need not exist. */
  readonly own: string;
  /** Absolute; read only. */
  readonly fallback?: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export function resolveHomes(env: Environment): Homes {
  const user = env['HOME'] || os.homedir();
  const named = env['TURNWRIGHT_HOME'];
  const own = path.resolve(named || path.join(user, '.turnwright'));
  const fallback = env['CODEX_HOME'] || (named ? undefined : path.join(user, '.codex'));
  return fallback && path.resolve(fallback) !== own ? { own, fallback: path.resolve(fallback) } : { own };
}

/** The path of `name` (a file or folder) in the first home that has it; undefined when none does. */
export async function findHomeFile(homes: Homes, name: string): Promise<string | undefined> {
  for (const home of [homes.own, homes.fallback]) {
    if (home === undefined) continue;
    const candidate = path.join(home, name);
    if (await exists(candidate)) return candidate;
  }
  return undefined;
}

/** A file that exists but may not be looked at counts as existing: reading it then reports the real problem. */
export async function exists(file: string): Promise<boolean> {
  try {
    await access(file);
    return true;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return code !== 'ENOENT' && code !== 'ENOTDIR';
  }
}

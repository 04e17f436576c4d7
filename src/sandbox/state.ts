/**
 * Our own files: the seccomp programs, an unreadable file to bind over denied ones, and the claims. One place per user
 * and machine, so that every process of the user finds the claims of the others.
 */
import { createHash, randomUUID } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { makeFolder } from '../lib/index.js';
import { TurnwrightError } from '../protocol/index.js';

export interface SandboxState {
  readonly dir: string;
  /** An empty file of mode 0000. */
  readonly deniedFile: string;
  readonly claimsDir: string;
  /** For files that live as long as a run: shared memory where there is some, since deleting on a disk is slow. */
  readonly runDir: string;
}

/**
 * Makes or finds the state directory: `wanted`, else the user's state home, else shared memory, else `/tmp`.
 * @throws TurnwrightError `TW_SANDBOX_UNAVAILABLE` when none can be made.
 */
export function openState(wanted?: string): SandboxState {
  const places = wanted === undefined ? defaultPlaces() : [wanted];
  const failures: string[] = [];
  for (const dir of places) {
    try {
      return prepare(dir);
    } catch (error) {
      failures.push(`${dir}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new TurnwrightError(
    'TW_SANDBOX_UNAVAILABLE',
    `no place for the sandbox's own files (${failures.join('; ')}); make one of them writable`,
  );
}

/** Path of the file that holds `program`, written when missing. Named by its content, so it is never stale. */
export function filterFile(state: SandboxState, program: Buffer): string {
  const name = names.get(program) ?? `filter-${createHash('sha256').update(program).digest('hex').slice(0, 24)}.bpf`;
  names.set(program, name);
  const path = join(state.dir, name);
  if (known.has(path) && existsSync(path)) return path;
  try {
    if (!readFileSync(path).equals(program)) writeFilter(path, program);
  } catch {
    writeFilter(path, program);
  }
  known.add(path);
  return path;
}

const known = new Set<string>();
const names = new WeakMap<Buffer, string>();

function writeFilter(path: string, program: Buffer): void {
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(draft, program, { mode: 0o400 });
  renameSync(draft, path);
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function defaultPlaces(): string[] {
  const user = userInfo();
  const own = `turnwright-${user.uid}`;
  return [
    ...(user.homedir ? [join(user.homedir, '.local/state/turnwright/sandbox')] : []),
    join('/dev/shm', own),
    join('/tmp', own),
  ];
}

function prepare(dir: string): SandboxState {
  makeFolder(dir, 0o700);
  const found = lstatSync(dir);
  if (!found.isDirectory()) throw new Error('is not a directory');
  if (process.getuid !== undefined && found.uid !== process.getuid()) throw new Error('belongs to another user');
  if ((found.mode & 0o022) !== 0) chmodSync(dir, 0o700);
  const claimsDir = join(dir, 'claims');
  makeFolder(claimsDir, 0o700);
  const deniedFile = join(dir, 'denied');
  if (lstatSync(deniedFile, { throwIfNoEntry: false }) === undefined) {
    closeSync(openSync(deniedFile, 'a', 0o000));
    chmodSync(deniedFile, 0o000);
  }
  return { dir, deniedFile, claimsDir, runDir: isWritable('/dev/shm') ? '/dev/shm' : dir };
}

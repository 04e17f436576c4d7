/** What a plan may know about the file system. Tests give it a table, the tool the disk. */

import { isUtf8 } from 'node:buffer';
import { lstatSync, readlinkSync } from 'node:fs';
import { readRegularFile } from '../../lib/index.js';

/** What stands at one path; links are not followed. */
export type Entry =
  | { readonly kind: 'missing' | 'directory' | 'other' }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'file'; readonly mode: number; readonly size: number };

export interface PatchFiles {
  /** @throws the system's error when the path cannot be examined (but a missing one is an answer). */
  look(path: string): Entry;
  read(path: string): Promise<Buffer>;
}

export const diskFiles: PatchFiles = {
  look(path) {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return { kind: 'missing' };
    if (found.isSymbolicLink()) return { kind: 'link', target: readlinkSync(path) };
    if (found.isDirectory()) return { kind: 'directory' };
    if (!found.isFile()) return { kind: 'other' };
    return { kind: 'file', mode: found.mode & 0o7777, size: found.size };
  },
  read: (path) => readRegularFile(path, Number.MAX_SAFE_INTEGER),
};

/** Undefined when the bytes are not UTF-8. A byte order mark stays part of the text. */
export function decodeUtf8(bytes: Buffer): string | undefined {
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

/** Where UTF-8 ends being valid. Only for bytes that `decodeUtf8` refused. */
export function invalidUtf8At(bytes: Buffer): number {
  const again = Buffer.from(bytes.toString('utf8'));
  const end = Math.min(bytes.length, again.length);
  for (let at = 0; at < end; at++) if (bytes[at] !== again[at]) return at;
  return end;
}

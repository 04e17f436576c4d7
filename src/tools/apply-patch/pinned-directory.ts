/**
 * A directory held open, so that what happens in it happens in this directory and no other. Between the check of a path
 * and the write, a running command could replace a directory by a link that leads out of the workspace. On Linux names
 * are therefore resolved from the open directory (`/proc/self/fd/N/name`); elsewhere the real path is compared once more
 * right before use, which leaves a small window.
 */
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readlink, realpath, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { PatchError, systemReason } from './patch-error.js';

/** Linux: a handle that needs no read permission and is only good as a starting point. */
const O_PATH = process.platform === 'linux' ? 0o10000000 : 0;
const FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | O_PATH;

export interface PinnedDirectory extends AsyncDisposable {
  /** A path of `name` in this directory, good while the directory is held. `name` has no slash. */
  at(name: string): string;
  /** Removes the directories that were made for it, as far as they are empty. */
  removeCreated(): Promise<void>;
}

/**
 * @param path canonical; no component may be a link.
 * @throws PatchError `stale` when the path leads elsewhere by now, `write` when it cannot be opened or made.
 */
export async function pinDirectory(path: string, options: { readonly create: boolean }): Promise<PinnedDirectory> {
  try {
    return await pin(path, await open(path, FLAGS), []);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'ENOENT' || !options.create || dirname(path) === path) throw asPatchError(error, path);
  }
  return makeDirectory(path);
}

async function makeDirectory(path: string): Promise<PinnedDirectory> {
  await using parent = await pinDirectory(dirname(path), { create: true });
  const own = parent.at(basename(path));
  let made = true;
  try {
    await mkdir(own);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      await parent.removeCreated();
      throw asPatchError(error, path);
    }
    made = false;
  }
  const undo = [...(made ? [() => rmdir(path)] : []), () => parent.removeCreated()];
  try {
    return await pin(path, await open(own, FLAGS), undo);
  } catch (error) {
    throw asPatchError(error, path);
  }
}

async function pin(path: string, handle: FileHandle, undo: readonly (() => Promise<void>)[]): Promise<PinnedDirectory> {
  try {
    const base = await verifiedBase(path, handle);
    return {
      at: (name) => join(base, name),
      async removeCreated() {
        for (const step of undo) await step().catch(() => {}); // someone else uses it by now
      },
      [Symbol.asyncDispose]: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function verifiedBase(path: string, handle: FileHandle): Promise<string> {
  const own = `/proc/self/fd/${handle.fd}`;
  const onLinux = process.platform === 'linux' ? await readlink(own).catch(() => undefined) : undefined;
  const actual = onLinux ?? (await realpath(path));
  if (actual !== path)
    throw new PatchError({ kind: 'stale', path }, `${path} is not the directory it was when the patch was checked`);
  return onLinux === undefined ? path : own;
}

function asPatchError(error: unknown, path: string): PatchError {
  if (error instanceof PatchError) return error;
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ELOOP' || code === 'ENOENT' || code === 'ENOTDIR') {
    return new PatchError(
      { kind: 'stale', path },
      `${path} is not the directory it was when the patch was checked`,
      error,
    );
  }
  return new PatchError({ kind: 'write', path }, `Failed to write in directory ${path}: ${systemReason(error)}`, error);
}

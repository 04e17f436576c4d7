/**
 * Makes one step of a plan ready on the disk and carries it out. A file is written whole beside its place and renamed
 * into it, so that nobody ever sees half of it; where that would lose something (hard links, the owner, a file that is
 * a mount point, a directory that takes no new names), the bytes are written into the file itself.
 */
import { randomBytes } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { access, type FileHandle, link, lstat, open, readlink, rename, symlink, unlink } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { PlannedEntry } from './overlay.js';
import { PatchError, systemReason } from './patch-error.js';
import { type PinnedDirectory, pinDirectory } from './pinned-directory.js';
import type { PatchStep } from './plan-patch.js';

/** A step that is ready. Nothing is visible under its path before `commit`. */
export interface StagedStep {
  commit(): Promise<void>;
  /** Puts back what was there. Only after `commit`. */
  undo(): Promise<void>;
  /** Lets go of everything. `kept` false: nothing of the step stands, so the directories made for it go as well. */
  dispose(kept: boolean): Promise<void>;
}

export type StageStep = (step: PatchStep) => Promise<StagedStep>;

type PlannedFile = Extract<PlannedEntry, { kind: 'file' }>;

/** @throws PatchError `stale` when the entry is not what the plan saw, `write` or `delete` when the system refuses. */
export const stageStep: StageStep = async (step) => {
  const directory = await pinDirectory(dirname(step.path), { create: step.after.kind === 'file' });
  const at = directory.at(basename(step.path));
  const place: Place = { step, directory, at };
  try {
    const seen = await verifyBefore(place);
    if (step.after.kind === 'file') return await stageWrite(place, step.after, seen);
    return stageRemoval(place, seen);
  } catch (error) {
    await directory.removeCreated();
    await directory[Symbol.asyncDispose]();
    throw asPatchError(error, step);
  }
};

interface Place {
  readonly step: PatchStep;
  readonly directory: PinnedDirectory;
  /** Path of the entry through the pinned directory. */
  readonly at: string;
}

async function stageWrite(place: Place, after: PlannedFile, seen: BigIntStats | undefined): Promise<StagedStep> {
  const bytes = requireBytes(after);
  // A rename would get past the mode of a write-protected file.
  if (seen?.isFile()) await access(place.at, constants.W_OK);
  if (seen?.isFile() && seen.nlink > 1n) return stageInPlace(place, bytes, seen);
  const temporary = place.directory.at(temporaryName());
  try {
    await writeNew(temporary, bytes, after.mode, seen?.isFile() ? seen : undefined);
  } catch (error) {
    await unlink(temporary).catch(() => {}); // may not exist
    if (seen?.isFile() && isRefusal(error)) return stageInPlace(place, bytes, seen);
    throw error;
  }
  return stageReplacement(place, temporary, bytes, seen);
}

function stageReplacement(place: Place, temporary: string, bytes: Buffer, seen: BigIntStats | undefined): StagedStep {
  const { step, directory, at } = place;
  let inPlace: StagedStep | undefined;
  return {
    commit: () =>
      guarded(step, async () => {
        if (seen === undefined) return await putNew(temporary, at);
        await requireUnchanged(place, seen);
        try {
          await rename(temporary, at);
        } catch (error) {
          if (!seen.isFile() || !isRefusal(error)) throw error;
          inPlace = await stageInPlace(place, bytes, seen);
          await inPlace.commit();
        }
      }),
    async undo() {
      if (inPlace) await inPlace.undo();
      else await putBack(place);
    },
    async dispose(kept) {
      await unlink(temporary).catch(() => {}); // gone once it was renamed
      if (!kept) await directory.removeCreated();
      if (inPlace) await inPlace.dispose(kept);
      else await directory[Symbol.asyncDispose]();
    },
  };
}

/** Keeps the inode: links, owner and attributes stay. */
async function stageInPlace(place: Place, bytes: Buffer, seen: BigIntStats): Promise<StagedStep> {
  const { step, directory, at } = place;
  const handle = await open(at, constants.O_RDWR | constants.O_NOFOLLOW);
  const old = step.before;
  return {
    commit: () =>
      guarded(step, async () => {
        await requireUnchanged(place, seen);
        try {
          await overwrite(handle, bytes);
          if (
            step.after.kind === 'file' &&
            old.kind === 'file' &&
            step.after.mode !== old.mode &&
            step.after.mode !== undefined
          ) {
            await handle.chmod(step.after.mode);
          }
        } catch (error) {
          if (old.kind === 'file') await overwrite(handle, requireBytes(old));
          throw error;
        }
      }),
    async undo() {
      if (old.kind !== 'file') return;
      await overwrite(handle, requireBytes(old));
      if (old.mode !== undefined) await handle.chmod(old.mode);
    },
    async dispose() {
      await handle.close();
      await directory[Symbol.asyncDispose]();
    },
  };
}

/** The entry is renamed away and only dropped at the end, so that undoing it needs neither its bytes nor its kind. */
function stageRemoval(place: Place, seen: BigIntStats | undefined): StagedStep {
  const { step, directory, at } = place;
  const trash = directory.at(temporaryName());
  return {
    commit: () =>
      guarded(step, async () => {
        if (seen) await requireUnchanged(place, seen);
        await rename(at, trash);
      }),
    undo: () => rename(trash, at),
    async dispose() {
      await unlink(trash).catch(() => {}); // not there unless the removal stands
      await directory[Symbol.asyncDispose]();
    },
  };
}

/** The entry must be what the plan was made from. Returns its state, for the short check right before the commit. */
async function verifyBefore(place: Place): Promise<BigIntStats | undefined> {
  const { before } = place.step;
  const found = await look(place.at);
  if (before.kind === 'missing') {
    if (found) throw stale(place.step);
    return undefined;
  }
  if (before.kind === 'link') {
    if (!found?.isSymbolicLink() || (await readlink(place.at)) !== before.target) throw stale(place.step);
    return found;
  }
  if (before.kind !== 'file') return found;
  if (!found?.isFile() || found.size !== BigInt(before.size)) throw stale(place.step);
  if (before.bytes && !(await holds(place.at, before.bytes))) throw stale(place.step);
  return found;
}

async function holds(path: string, bytes: Buffer): Promise<boolean> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return (await handle.readFile()).equals(bytes);
  } finally {
    await handle.close();
  }
}

async function requireUnchanged({ at, step }: Place, seen: BigIntStats): Promise<void> {
  const now = await look(at);
  const same =
    now && now.ino === seen.ino && now.dev === seen.dev && now.size === seen.size && now.mtimeNs === seen.mtimeNs;
  if (!same) throw stale(step);
}

async function look(path: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** `like`: the file it will replace; its owner is kept, or the system's refusal is thrown. */
async function writeNew(path: string, bytes: Buffer, mode: number | undefined, like?: BigIntStats): Promise<void> {
  const handle = await open(
    path,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    mode ?? 0o666,
  );
  try {
    await handle.writeFile(bytes);
    const own = await handle.stat();
    const [uid, gid] = [Number(like?.uid ?? own.uid), Number(like?.gid ?? own.gid)];
    if (own.uid !== uid || own.gid !== gid) await handle.chown(uid, gid);
    if (mode !== undefined) await handle.chmod(mode);
  } finally {
    await handle.close();
  }
}

/** Gives a finished file its name, and fails if someone took the name meanwhile. */
async function putNew(temporary: string, at: string): Promise<void> {
  try {
    await link(temporary, at);
    await unlink(temporary);
  } catch (error) {
    if (!NO_HARD_LINKS.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    if (await look(at)) throw error;
    await rename(temporary, at);
  }
}

const NO_HARD_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

async function putBack({ step, directory, at }: Place): Promise<void> {
  const { before } = step;
  if (before.kind === 'missing') return await unlink(at);
  const temporary = directory.at(temporaryName());
  if (before.kind === 'link') await symlink(before.target, temporary);
  else if (before.kind === 'file') await writeNew(temporary, requireBytes(before), before.mode, await look(at));
  await rename(temporary, at);
}

async function overwrite(handle: FileHandle, bytes: Buffer): Promise<void> {
  let done = 0;
  while (done < bytes.length) done += (await handle.write(bytes, done, bytes.length - done, done)).bytesWritten;
  await handle.truncate(bytes.length);
}

function requireBytes(file: PlannedFile): Buffer {
  if (!file.bytes) throw new Error('a file that is written must have been read first');
  return file.bytes;
}

function temporaryName(): string {
  return `.tw-${randomBytes(8).toString('hex')}.tmp`;
}

/** Refusals that concern the directory or the rename, not the file: writing into the file itself may still work. */
function isRefusal(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'EROFS', 'EBUSY', 'EXDEV'].includes((error as NodeJS.ErrnoException).code ?? '');
}

async function guarded(step: PatchStep, action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    throw asPatchError(error, step);
  }
}

function stale(step: PatchStep): PatchError {
  return new PatchError(
    { kind: 'stale', path: step.path },
    `${step.path} changed after the patch was checked; read it again`,
  );
}

function asPatchError(error: unknown, step: PatchStep): PatchError {
  if (error instanceof PatchError) return error;
  if ((error as NodeJS.ErrnoException).code === 'EEXIST' && step.before.kind === 'missing') return stale(step);
  const kind = step.after.kind === 'file' ? 'write' : 'delete';
  return new PatchError(
    { kind, path: step.path },
    `Failed to ${kind} file ${step.path}: ${systemReason(error)}`,
    error,
  );
}

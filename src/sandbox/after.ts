/**
 * What a mount cannot prevent is compared after the run and put right: a protected name that is a link, a file whose
 * mere presence redirects git, a directory turned into a bare repository. Nothing is deleted: what should not be there
 * is renamed aside, where no program looks for it.
 */
import { lstatSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type FileView, resolvePath } from './files.js';
import type { SandboxPlan } from './plan/plan.js';
import { looksLikeBareRepository } from './plan/protect.js';

export interface Violation {
  readonly path: string;
  /** One sentence for a person and the model. */
  readonly text: string;
  /** Where the impostor is now. */
  readonly movedTo?: string;
}

export function verifyAfter(plan: SandboxPlan, files: FileView): Violation[] {
  return [
    ...plan.links.flatMap((link) => restoreLink(link.path, link.target, files)),
    ...plan.mustStayMissing.filter(present).flatMap((path) => quarantine(path, 'nothing may be put there', files)),
    ...plan.mustNotBecomeBare
      .filter((path) => looksLikeBareRepository(files, path))
      .flatMap((path) => quarantine(join(path, 'HEAD'), `${path} had been turned into a git repository`, files)),
  ];
}

function restoreLink(path: string, target: string, files: FileView): Violation[] {
  if (linkTarget(path) === target) return [];
  const moved = present(path) ? quarantine(path, 'it had replaced a protected link', files) : [];
  if (!isOwnPlace(path, files)) return moved;
  try {
    symlinkSync(target, path);
  } catch {
    return moved;
  }
  return moved.length > 0 ? moved : [{ path, text: `${path} had been removed; the link to ${target} is back` }];
}

function quarantine(path: string, why: string, files: FileView): Violation[] {
  if (!isOwnPlace(path, files)) return [];
  const movedTo = `${path}.quarantine-${Date.now()}`;
  try {
    renameSync(path, movedTo);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    // What cannot be renamed must not stay either.
    rmSync(path, { recursive: true, force: true });
    return [{ path, text: `${path} was removed: ${why}` }];
  }
  return [{ path, movedTo, text: `${path} was moved to ${movedTo}: ${why}` }];
}

/** False when a directory on the way has become a link: then the path names something that is not ours to move. */
function isOwnPlace(path: string, files: FileView): boolean {
  return resolvePath(files, dirname(path)).path === dirname(path);
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function present(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

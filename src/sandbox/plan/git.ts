/**
 * Repositories. A `.git` may be a directory, a link, or a file that points elsewhere (worktrees, submodules); the
 * pointer, what it points at and the common directory all decide what git runs, so all of them are protected.
 */
import { dirname, isAbsolute, join } from 'node:path';
import { type FileView, resolvePath } from '../files.js';
import { isWithin } from '../paths.js';
import { GIT_TRUSTED_NAMES } from './names.js';
import type { ResolvedPolicy } from './policy.js';
import { type Protection, protectPath } from './protection.js';

type GitPolicy = Pick<ResolvedPolicy, 'git' | 'roots'>;

/**
 * Protects the repository whose `.git` is at `dotGit`. `root`: it is the writable root's own, which no command can
 * have planted; only such a one may make directories outside the roots writable for commits.
 */
export function protectRepository(
  found: Protection,
  files: FileView,
  dotGit: string,
  policy: GitPolicy,
  origin: 'root' | 'nested',
): void {
  const optional = origin === 'nested';
  protectPath(found, files, dotGit, origin === 'root' ? { missing: 'dir' } : { optional });
  const place = resolvePath(files, dotGit).path;
  const kind = files.kind(place);
  if (kind === 'file') protectPointer(found, files, place, policy, origin);
  else if (kind === 'dir') protectGitDirectory(found, files, place, policy, optional);
}

function protectPointer(
  found: Protection,
  files: FileView,
  pointer: string,
  policy: GitPolicy,
  origin: 'root' | 'nested',
): void {
  const written = /^gitdir:\s*(.+?)\s*$/m.exec(files.text(pointer) ?? '')?.[1];
  if (written === undefined) return;
  const gitDir = resolvePath(files, absolute(written, dirname(pointer))).path;
  const common = commonDirectory(files, gitDir);
  const inside = (path: string): boolean => policy.roots.some((root) => isWithin(path, root));
  const trusted = inside(gitDir) || (origin === 'root' && pointsBack(files, gitDir, pointer));
  const commits = policy.git === 'commit' && trusted;
  for (const directory of new Set([gitDir, common])) {
    if (commits) openForCommits(found, files, directory, origin === 'nested');
    else protectPath(found, files, directory, { optional: true });
  }
}

function protectGitDirectory(
  found: Protection,
  files: FileView,
  gitDir: string,
  policy: GitPolicy,
  optional: boolean,
): void {
  const common = commonDirectory(files, gitDir);
  if (policy.git === 'read-only') {
    if (common !== gitDir) protectPath(found, files, common, { optional: true });
    return;
  }
  // The strict entry made for `.git` itself gives way to a writable one with read-only parts.
  const strict = found.entries.findIndex((entry) => entry.path === gitDir && entry.access === 'read');
  if (strict >= 0) found.entries.splice(strict, 1);
  openForCommits(found, files, gitDir, optional);
}

/** Writable, but for whatever makes git run a program or read another place. */
function openForCommits(found: Protection, files: FileView, gitDir: string, optional: boolean): void {
  const flag = optional ? { optional: true as const } : {};
  found.entries.push({ path: gitDir, access: 'write', ...flag });
  for (const name of GIT_TRUSTED_NAMES) {
    const missing = name === 'hooks' || name === 'info' ? 'dir' : 'file';
    protectPath(found, files, join(gitDir, name), { ...flag, missing });
  }
  for (const name of ['commondir', 'gitdir']) keepPointer(found, files, join(gitDir, name));
  for (const { name, kind } of files.list(join(gitDir, 'modules'))) {
    if (kind !== 'dir') continue;
    for (const part of ['config', 'hooks']) protectPath(found, files, join(gitDir, 'modules', name, part), flag);
  }
  for (const { name, kind } of files.list(join(gitDir, 'worktrees'))) {
    if (kind !== 'dir') continue;
    const admin = join(gitDir, 'worktrees', name);
    for (const part of ['config.worktree', 'commondir', 'gitdir']) protectPath(found, files, join(admin, part), flag);
  }
}

/** An empty stand-in for these two would break git, so a missing one is only compared afterwards. */
function keepPointer(found: Protection, files: FileView, path: string): void {
  if (files.kind(path) === 'missing') found.mustStayMissing.push(path);
  else protectPath(found, files, path);
}

function commonDirectory(files: FileView, gitDir: string): string {
  const written = files.text(join(gitDir, 'commondir'))?.trim();
  return written ? resolvePath(files, absolute(written, gitDir)).path : gitDir;
}

/** True when the worktree's admin directory names this very pointer, as `git worktree add` writes it. */
function pointsBack(files: FileView, gitDir: string, pointer: string): boolean {
  const written = files.text(join(gitDir, 'gitdir'))?.trim();
  return written !== undefined && resolvePath(files, absolute(written, gitDir)).path === pointer;
}

function absolute(path: string, base: string): string {
  return isAbsolute(path) ? path : join(base, path);
}

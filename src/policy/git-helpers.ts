/** Does a repository's own configuration name programs that reading commands would run? */
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

const HELPER_SECTIONS =
  /^\s*\[\s*(alias|diff|filter|merge|pager|difftool|mergetool|credential|gpg|include|includeif|uploadpack|interactive|sequence|browser|man|instaweb|sendemail|hook)\b/im;
const HELPER_KEYS =
  /^\s*(pager|editor|sshcommand|fsmonitor|askpass|gitproxy|hookspath|worktree|attributesfile|external|textconv|command|program|helper|driver|clean|smudge|process|cmd|proxycommand)\s*(=|$)/im;

/**
 * True when no pager, filter, hook path or other helper is named in the repository of `cwd`. Reading only: the user's own
 * configuration is the user's. Anything unclear (a linked work tree, an unreadable file) counts as no.
 */
export function gitIsPlain(cwd: string): boolean {
  const dir = findGitDirectory(cwd);
  if (dir === undefined) return true;
  if (dir === 'unclear') return false;
  try {
    const config = readIfThere(path.join(dir, 'config')) + readIfThere(path.join(dir, 'config.worktree'));
    return !HELPER_SECTIONS.test(config) && !HELPER_KEYS.test(config);
  } catch {
    return false;
  }
}

function readIfThere(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

function findGitDirectory(cwd: string): string | 'unclear' | undefined {
  for (let at = path.resolve(cwd); ; at = path.dirname(at)) {
    const candidate = path.join(at, '.git');
    const stat = statSync(candidate, { throwIfNoEntry: false });
    if (stat) return stat.isDirectory() ? candidate : 'unclear';
    // A bare repository's own directory is one too.
    if (existsSync(path.join(at, 'HEAD')) && existsSync(path.join(at, 'objects'))) return 'unclear';
    if (at === path.dirname(at)) return undefined;
  }
}

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Box, BoxPolicy } from '../../src/sandbox/index.js';
import { freshFolder, openBox, removeFolder, runIn } from './box.js';

let base: string;
let root: string;
let boxes: Box[] = [];
beforeEach(() => {
  base = freshFolder();
  root = join(base, 'main');
  mkdirSync(root);
  git(root, 'init', '-q', '-b', 'main');
  git(root, 'config', 'user.email', 'a@b.c');
  git(root, 'config', 'user.name', 't');
  writeFileSync(join(root, 'a.txt'), 'a\n');
  git(root, 'add', '.');
  git(root, 'commit', '-qm', 'one');
});
afterEach(async () => {
  for (const box of boxes) await box.close();
  boxes = [];
  removeFolder(base);
});

function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd, encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: base } });
}

async function box(folder: string, over: Partial<BoxPolicy> = {}): Promise<Box> {
  const opened = await openBox(folder, over, join(base, 'state'));
  boxes.push(opened);
  return opened;
}

const COMMIT = 'echo z > z && git add z && git commit -qm two';
const HOME = { env: { HOME: '/nonexistent', PATH: process.env['PATH'] ?? '' } };

describe('git = "read-only"', () => {
  it('lets status, log and diff work and refuses a commit', async () => {
    const opened = await box(root);
    const looked = await runIn(opened, 'git status --short && git log --oneline && git diff --stat', HOME);
    expect(looked).toMatchObject({ code: 0, output: expect.stringContaining('one') });
    const committed = await runIn(opened, COMMIT, HOME);
    expect(committed.code).not.toBe(0);
    expect(committed.output).toContain('Read-only file system');
    expect(git(root, 'log', '--oneline').trim().split('\n')).toHaveLength(1);
  });

  it('keeps a linked worktree and its common directory as they are', async () => {
    git(root, 'worktree', 'add', '-q', join(base, 'feature'));
    const opened = await box(join(base, 'feature'), { writableRoots: [join(base, 'feature'), root] });
    const tried = await runIn(opened, `rm -f .git; echo x > ${root}/.git/hooks/pre-commit; ${COMMIT}`, HOME);
    expect(tried.code).not.toBe(0);
    expect(existsSync(join(root, '.git/hooks/pre-commit'))).toBe(false);
    expect(readFileSync(join(base, 'feature/.git'), 'utf8')).toContain('gitdir:');
  });
});

describe('git = "commit"', () => {
  const commit = { git: 'commit' } as const;

  it('commits in a plain clone; config and hooks stay closed', async () => {
    const opened = await box(root, commit);
    expect(await runIn(opened, COMMIT, HOME)).toMatchObject({ code: 0 });
    expect(git(root, 'log', '--oneline').trim().split('\n')).toHaveLength(2);
    const config = readFileSync(join(root, '.git/config'), 'utf8');
    const tried = await runIn(
      opened,
      'git config core.fsmonitor evil; echo x > .git/hooks/pre-commit; mv .git .git2; mkdir -p .git/hooks2; ' +
        'echo x > .git/info/attributes; echo /etc > .git/objects/info/alternates; echo x > .git/config.worktree; true',
      HOME,
    );
    expect(tried.output).toContain('Read-only file system');
    await opened.close();
    expect(readFileSync(join(root, '.git/config'), 'utf8')).toBe(config);
    for (const gone of ['.git2', '.git/hooks/pre-commit', '.git/info/attributes', '.git/config.worktree']) {
      expect(existsSync(join(root, gone)), gone).toBe(false);
    }
    expect(existsSync(join(root, '.git/objects/info/alternates'))).toBe(false);
  });

  it('commits in a linked worktree, whose common directory lies outside the root', async () => {
    const feature = join(base, 'feature');
    git(root, 'worktree', 'add', '-q', feature);
    const opened = await box(feature, commit);
    expect(await runIn(opened, COMMIT, HOME)).toMatchObject({ code: 0 });
    expect(git(feature, 'log', '--oneline').trim().split('\n')).toHaveLength(2);
    await runIn(opened, `echo x > ${root}/.git/hooks/pre-commit; echo x >> ${root}/.git/config; echo x > ${root}/b`);
    expect(existsSync(join(root, '.git/hooks/pre-commit'))).toBe(false);
    expect(existsSync(join(root, 'b'))).toBe(false);
  });

  it('does not follow a pointer that a command could have planted', async () => {
    const other = join(base, 'other');
    mkdirSync(other);
    git(other, 'init', '-q');
    const opened = await box(root, commit);
    await runIn(opened, `mkdir sub && echo "gitdir: ${other}/.git" > sub/.git`);
    const tried = await runIn(opened, `echo x > ${other}/.git/planted`);
    expect(tried.output).toContain('Read-only file system');
    expect(existsSync(join(other, '.git/planted'))).toBe(false);
  });

  it('does not follow an objects directory that is a link', async () => {
    const elsewhere = join(base, 'elsewhere');
    mkdirSync(elsewhere);
    execFileSync('mv', [join(root, '.git/objects'), join(elsewhere, 'objects')]);
    symlinkSync(join(elsewhere, 'objects'), join(root, '.git/objects'));
    const before = readdirSync(join(elsewhere, 'objects')).length;
    const tried = await runIn(await box(root, commit), COMMIT, HOME);
    expect(tried.code).not.toBe(0);
    expect(readdirSync(join(elsewhere, 'objects'))).toHaveLength(before);
  });

  it('takes back a commondir that a command put there', async () => {
    const opened = await box(root, commit);
    const tried = await runIn(opened, 'echo /tmp/evil > .git/commondir');
    expect(tried.output).toContain('nothing may be put there');
    expect(existsSync(join(root, '.git/commondir'))).toBe(false);
  });
});

describe('nested repositories', () => {
  it('are protected with their parents, as the outer one is', async () => {
    mkdirSync(join(root, 'vendor/sub'), { recursive: true });
    git(join(root, 'vendor/sub'), 'init', '-q');
    const opened = await box(root);
    await runIn(
      opened,
      'echo x > .git/hooks/pre-commit; echo x > vendor/sub/.git/hooks/pre-commit; mv vendor v2; true',
    );
    expect(existsSync(join(root, '.git/hooks/pre-commit'))).toBe(false);
    expect(existsSync(join(root, 'vendor/sub/.git/hooks/pre-commit'))).toBe(false);
    expect(existsSync(join(root, 'v2'))).toBe(false);
  });
});

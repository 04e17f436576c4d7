import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SandboxPolicy } from '../../protocol/index.js';
import type { EntryKind, FileView } from '../files.js';
import { planSandbox } from './plan.js';
import { resolvePolicy, type SandboxHost } from './policy.js';

/** A file system as a table: `null` a directory, a string a file, `{ to }` a link. */
/** Directories under this one belong to someone else. */
const CLOSED = '/tmp/theirs';

type Tree = Readonly<Record<string, null | string | { readonly to: string }>>;

function view(tree: Tree): FileView {
  const all = new Map<string, null | string | { readonly to: string }>(Object.entries(tree));
  for (const path of Object.keys(tree)) {
    for (let at = join(path, '..'); at !== '/'; at = join(at, '..')) if (!all.has(at)) all.set(at, null);
  }
  all.set('/', null);
  const kind = (path: string): EntryKind => {
    const found = all.get(path);
    if (found === undefined) return 'missing';
    return found === null ? 'dir' : typeof found === 'string' ? 'file' : 'link';
  };
  return {
    kind,
    target: (path) => (all.get(path) as { to: string }).to,
    list: (path) =>
      [...all.keys()]
        .filter((other) => other !== '/' && join(other, '..') === path)
        .map((other) => ({ name: other.slice(other.lastIndexOf('/') + 1), kind: kind(other) })),
    enterable: (path) => path !== CLOSED,
    text: (path) => (typeof all.get(path) === 'string' ? (all.get(path) as string) : undefined),
  };
}

const HOST: SandboxHost = {
  uid: 1000,
  home: '/home/u',
  stateDir: '/home/u/.local/state/turnwright/sandbox',
  configHomes: ['/home/u/.turnwright'],
  socketPlaces: [],
};

function policy(over: Partial<SandboxPolicy> = {}): SandboxPolicy {
  return {
    mode: 'workspace-write',
    writableRoots: ['/w'],
    excludeSlashTmp: true,
    excludeTmpdirEnvVar: true,
    readOnly: [],
    denyRead: [],
    git: 'read-only',
    network: { kind: 'off' },
    unixSockets: 'deny',
    landlockFallback: false,
    ...over,
  };
}

function plan(tree: Tree, over: Partial<SandboxPolicy> = {}, cwd = '/w') {
  const files = view({ '/w': null, ...tree });
  return planSandbox(resolvePolicy(policy(over), HOST, files)!, cwd, HOST, files);
}

function lines(tree: Tree, over: Partial<SandboxPolicy> = {}): string[] {
  return plan(tree, over).entries.map(
    ({ path, access, placeholder }) => `${access} ${path}${placeholder === undefined ? '' : ` (${placeholder})`}`,
  );
}

const FOUR = ['read /w/.agents (dir)', 'read /w/.codex (dir)', 'read /w/.git (dir)', 'read /w/.turnwright (dir)'];
/** All four reserved names exist, so that rows show only what they are about. */
const QUIET: Tree = { '/w/.agents': null, '/w/.codex': null, '/w/.git': null, '/w/.turnwright': null };
const QUIET_LINES = ['read /w/.agents', 'read /w/.codex', 'read /w/.git', 'read /w/.turnwright'];

const ROWS: readonly [string, Tree, Partial<SandboxPolicy>, readonly string[]][] = [
  ['an empty workspace gets stand-ins for the reserved names', {}, {}, ['write /w', ...FOUR]],
  ['in read-only mode nothing is mounted', {}, { mode: 'read-only' }, []],
  [
    'other names are protected when they exist',
    { ...QUIET, '/w/.envrc': 'x' },
    {},
    ['write /w', ...QUIET_LINES.slice(0, 2), 'read /w/.envrc', ...QUIET_LINES.slice(2)],
  ],
  [
    'a link is followed to its place in the workspace',
    { ...QUIET, '/w/.codex': { to: 'real' }, '/w/real/config.toml': '' },
    {},
    ['write /w', 'read /w/.agents', 'read /w/.git', 'read /w/.turnwright', 'read /w/real'],
  ],
  [
    'a worktree pointer protects itself, its target and the common directory inside a root',
    {
      ...QUIET,
      '/w/.git': 'gitdir: /m/.git/worktrees/w\n',
      '/m/.git/worktrees/w/commondir': '../..\n',
      '/m/.git/config': '',
    },
    { writableRoots: ['/w', '/m'] },
    [
      'write /m',
      'write /w',
      'read /m/.agents (dir)',
      'read /m/.codex (dir)',
      'read /m/.git',
      'read /m/.turnwright (dir)',
      ...QUIET_LINES,
    ],
  ],
  [
    'nested repositories are found and their parents pinned',
    { ...QUIET, '/w/vendor/sub/.git/config': '', '/w/node_modules/x/.git/config': '' },
    {},
    ['write /w', ...QUIET_LINES, 'write /w/vendor', 'write /w/vendor/sub', 'read /w/vendor/sub/.git'],
  ],
  [
    'a missing read-only path is held by its first missing part',
    QUIET,
    { readOnly: ['/w/a/b/c'] },
    ['write /w', ...QUIET_LINES.slice(0, 3), 'read /w/.turnwright', 'read /w/a (dir)'],
  ],
  [
    'a denied link hides the real place',
    { ...QUIET, '/link': { to: '/s' }, '/s/key': 'x' },
    { denyRead: ['/link'] },
    ['deny /s', 'write /w', ...QUIET_LINES],
  ],
  [
    'denied globs are expanded',
    { ...QUIET, '/w/a/.env': 'x', '/w/.env': 'x', '/w/a/env': 'x' },
    { denyRead: ['/w/**/.env'] },
    ['write /w', ...QUIET_LINES.slice(0, 2), 'deny /w/.env', ...QUIET_LINES.slice(2), 'write /w/a', 'deny /w/a/.env'],
  ],
  [
    'start-up files and our own homes are protected when the home directory is writable',
    {
      '/home/u/.bashrc': '',
      '/home/u/.turnwright/config.toml': '',
      '/home/u/.agents': null,
      '/home/u/.codex': null,
      '/home/u/.git': null,
    },
    { writableRoots: ['/home/u'] },
    [
      'write /home/u',
      'read /home/u/.agents',
      'read /home/u/.bashrc',
      'read /home/u/.codex',
      'read /home/u/.git',
      'read /home/u/.turnwright',
    ],
  ],
  [
    'what no command can get at is left alone',
    { ...QUIET, '/tmp/theirs/x/key': '' },
    { denyRead: ['/tmp/theirs/x'] },
    ['write /w', ...QUIET_LINES],
  ],
  [
    'sockets of other programs in /tmp are hidden',
    {
      ...QUIET,
      '/tmp/ssh-XX/agent.1': '',
      '/tmp/.agents': null,
      '/tmp/.codex': null,
      '/tmp/.git': null,
      '/tmp/.turnwright': null,
    },
    { excludeSlashTmp: false },
    [
      'write /tmp',
      'write /w',
      'read /tmp/.agents',
      'read /tmp/.codex',
      'read /tmp/.git',
      'read /tmp/.turnwright',
      'deny /tmp/ssh-XX',
      ...QUIET_LINES,
    ],
  ],
];

describe('a plan', () => {
  it.each(ROWS)('%s', (_name, tree, over, expected) => {
    expect(lines(tree, over)).toEqual(expected);
  });

  it('opens .git for commits, but for what makes git run a program', () => {
    const git = ['config', 'hooks/x', 'info/x', 'objects/info/alternates', 'modules/m/config', 'commondir'];
    const tree = Object.fromEntries(git.map((name) => [`/w/.git/${name}`, '']));
    const found = lines({ ...QUIET, ...tree }, { git: 'commit' });
    expect(found.filter((line) => line.includes('/.git'))).toEqual([
      'write /w/.git',
      'read /w/.git/commondir',
      'read /w/.git/config',
      'read /w/.git/config.worktree (file)',
      'read /w/.git/hooks',
      'read /w/.git/info',
      'write /w/.git/modules',
      'write /w/.git/objects',
      'write /w/.git/modules/m',
      'write /w/.git/objects/info',
      'read /w/.git/modules/m/config',
      'read /w/.git/objects/info/alternates',
    ]);
  });

  it('watches links and the shape of a bare repository, which no mount can hold', () => {
    const found = plan({ '/w/.codex': { to: 'real' }, '/w/real': null, '/w/sub': null }, {}, '/w/sub');
    expect(found.links).toEqual([{ path: '/w/.codex', target: 'real' }]);
    expect(found.mustNotBecomeBare).toEqual(['/w', '/w/sub']);
  });

  it('opens a common directory outside the roots only when it points back', () => {
    const tree: Tree = {
      ...QUIET,
      '/w/.git': 'gitdir: /m/.git/worktrees/w\n',
      '/m/.git/worktrees/w/commondir': '../..\n',
      '/m/.git/config': '',
    };
    const opened = (back: string): boolean =>
      lines({ ...tree, '/m/.git/worktrees/w/gitdir': back }, { git: 'commit' }).includes('write /m/.git');
    expect(opened('/w/.git\n')).toBe(true);
    expect(opened('/elsewhere/.git\n')).toBe(false);
  });
});

describe('a policy', () => {
  const files = view({ '/w': null, '/sys': null, '/dev/shm': null, '/x/link': { to: '/' } });
  it.each(['/', '/proc/self', '/sys', '/dev', '/x/link', 'relative'])('refuses the root %s', (root) => {
    expect(() => resolvePolicy(policy({ writableRoots: [root] }), HOST, files)).toThrow(
      expect.objectContaining({ code: 'TW_CONFIG_VALUE' }),
    );
  });

  it('leaves out a root that does not exist, and says so', () => {
    const resolved = resolvePolicy(policy({ writableRoots: ['/w', '/gone', '/dev/shm'] }), HOST, files);
    expect(resolved).toMatchObject({ roots: ['/w', '/dev/shm'], warnings: [expect.stringContaining('/gone')] });
  });

  it('wraps nothing with full access or when someone else isolates', () => {
    expect(resolvePolicy(policy({ mode: 'danger-full-access' }), HOST, files)).toBeUndefined();
    expect(resolvePolicy(policy({ mode: 'external' }), HOST, files)).toBeUndefined();
  });
});

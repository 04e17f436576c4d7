import { expect, test } from 'vitest';
import { applyPermissions } from './permissions.js';

const place = { cwd: '/w', home: '/h' };
const quiet = { readOnly: [], denyRead: [], slashTmp: false, tmpdir: false, network: { kind: 'off' } };

const cases: [string, string, Record<string, unknown>, unknown][] = [
  ['read-only', ':read-only', {}, { ...quiet, mode: 'read-only', writableRoots: [] }],
  [
    'workspace',
    ':workspace',
    {},
    { ...quiet, mode: 'workspace-write', writableRoots: ['/w'], slashTmp: true, tmpdir: true },
  ],
  [
    'full access',
    ':danger-full-access',
    {},
    { ...quiet, mode: 'danger-full-access', writableRoots: [], network: { kind: 'full' } },
  ],
  [
    'a profile adds to what it extends',
    'p',
    {
      p: {
        extends: ':workspace',
        filesystem: { '~/cache': 'write', '/w/docs': 'read', '/secret': 'deny', ':tmpdir': 'read' },
      },
    },
    {
      ...quiet,
      mode: 'workspace-write',
      writableRoots: ['/w', '/h/cache'],
      readOnly: ['/w/docs'],
      denyRead: ['/secret'],
      slashTmp: true,
    },
  ],
  [
    'paths inside the workspace as a table',
    'p',
    { p: { filesystem: { ':workspace_roots': { '.': 'write', 'gen/out': 'read' } } } },
    { ...quiet, mode: 'workspace-write', writableRoots: ['/w'], readOnly: ['/w/gen/out'] },
  ],
  [
    'domains go through the proxy',
    'p',
    { p: { network: { enabled: true, domains: { 'a.org': 'allow', 'b.org': 'deny' } } } },
    {
      ...quiet,
      mode: 'read-only',
      writableRoots: [],
      network: { kind: 'proxied', allow: ['a.org'], deny: ['b.org'], mode: 'full' },
    },
  ],
  [
    'domains without enabled stay off',
    'p',
    { p: { network: { domains: { 'a.org': 'allow' } } } },
    { ...quiet, mode: 'read-only', writableRoots: [] },
  ],
];

test.each(cases)('%s', (_name, profile, permissions, expected) => {
  expect(applyPermissions(profile, permissions, place)).toEqual(expected);
});

test.each([
  ['an unknown name, with the nearest', ':workspce', {}, 'did you mean ":workspace"'],
  ['a circle', 'a', { a: { extends: 'b' }, b: { extends: 'a' } }, 'extends itself (a → b → a)'],
  ['write access to everything', 'a', { a: { filesystem: { ':root': 'write' } } }, ':danger-full-access'],
])('refuses %s', (_name, profile, permissions, message) => {
  expect(() => applyPermissions(profile, permissions, place)).toThrow(message);
});

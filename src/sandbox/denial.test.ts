import { describe, expect, it } from 'vitest';
import type { SandboxDenialFacts, SandboxPolicy } from '../protocol/index.js';
import { type DenialQuestion, type DenialWorld, judgeDenial } from './denial.js';

const POLICY: SandboxPolicy = {
  mode: 'workspace-write',
  writableRoots: ['/w'],
  excludeSlashTmp: false,
  excludeTmpdirEnvVar: false,
  readOnly: [],
  denyRead: ['/s'],
  git: 'read-only',
  network: { kind: 'off' },
  unixSockets: 'deny',
  landlockFallback: false,
};

/** An ordinary user who owns everything but `/etc`. */
const WORLD: DenialWorld = {
  uid: 1000,
  access: (path) =>
    path.startsWith('/s') ? 'deny' : path.startsWith('/w/.git') ? 'read' : path.startsWith('/w') ? 'write' : undefined,
  couldWrite: (path) => !path.startsWith('/etc'),
  couldRead: (path) => path !== '/etc/shadow',
};

type Row = [string, Partial<DenialQuestion>, Partial<SandboxDenialFacts> | undefined, Partial<DenialWorld>?];
const ROWS: readonly Row[] = [
  ['success is never a denial', { exitCode: 0, output: 'touch: x: Read-only file system' }, undefined],
  ['SIGSYS', { exitCode: 159, output: '' }, { certainty: 'certain', what: 'syscall' }],
  [
    'a write outside',
    { output: 'touch: /o/x: Read-only file system' },
    { certainty: 'certain', what: 'fs-write', path: '/o/x' },
  ],
  [
    'a write to a protected path, named relatively',
    { output: "fatal: Unable to create '.git/index.lock': Read-only file system" },
    { certainty: 'certain', what: 'fs-write', path: '/w/.git/index.lock' },
  ],
  ['a read-only place inside a root is not ours', { output: 'touch: /w/iso/x: Read-only file system' }, undefined],
  [
    'a read-only message without a path',
    { output: 'error: cannot write cache: Read-only file system (os error 30)' },
    { certainty: 'likely', what: 'fs-write' },
  ],
  [
    'forbidden, but this user could outside',
    { output: "mkdir: cannot create directory '/o/d': Permission denied" },
    { certainty: 'likely', what: 'fs-write', path: '/o/d' },
  ],
  ['forbidden to this user anyway', { output: 'cat: /etc/shadow: Permission denied' }, undefined],
  ['forbidden inside a root', { output: 'cat: /w/secret: Permission denied' }, undefined],
  [
    'a hidden file',
    { output: 'cat: /s/key: Permission denied' },
    { certainty: 'likely', what: 'fs-read', path: '/s/key' },
  ],
  [
    'root has no capabilities inside',
    { output: 'sh: 1: cannot create /w/theirs: Permission denied' },
    { certainty: 'likely', what: 'fs-write' },
    { uid: 0 },
  ],
  [
    'a socket',
    { output: 'error: connect /var/run/docker.sock: Operation not permitted' },
    { certainty: 'likely', what: 'unix' },
  ],
  [
    'a name that does not resolve',
    { output: 'curl: (6) Could not resolve host: a.com', exitCode: 6 },
    { certainty: 'likely', what: 'net', host: 'a.com' },
  ],
  [
    'the same with the network on',
    { output: 'curl: (6) Could not resolve host: a.com', policy: { ...POLICY, network: { kind: 'full' } } },
    undefined,
  ],
  [
    'the proxy refused a host',
    { output: '', refusedHosts: ['a.com:443'] },
    { certainty: 'certain', what: 'net', host: 'a.com:443' },
  ],
  ['an ordinary failure', { output: 'make: *** [all] Error 2', exitCode: 2 }, undefined],
  ['not found', { output: 'sh: 1: nope: not found', exitCode: 127 }, undefined],
  ['words in a log', { output: 'the sandbox said permission denied, see landlock' }, undefined],
];

describe('judgeDenial', () => {
  it.each(ROWS)('%s', (_name, over, expected, world = {}) => {
    const question: DenialQuestion = { exitCode: 1, signal: null, output: '', policy: POLICY, cwd: '/w', ...over };
    const found = judgeDenial(question, { ...WORLD, ...world });
    if (expected === undefined) expect(found).toBeUndefined();
    else expect(found).toMatchObject(expected);
  });
});

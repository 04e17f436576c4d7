import { describe, expect, it } from 'vitest';
import { type Access, accessOf, arrange, type Entry } from './entries.js';

const e = (path: string, access: Access): Entry => ({ path, access });
const short = (entries: readonly Entry[]): string[] => entries.map(({ path, access }) => `${access} ${path}`);

const ROWS: readonly [string, readonly Entry[], readonly string[]][] = [
  ['a root alone', [e('/w', 'write')], ['write /w']],
  [
    'a protected path directly below a root needs no pin',
    [e('/w', 'write'), e('/w/.git', 'read')],
    ['write /w', 'read /w/.git'],
  ],
  [
    'directories between a root and a protected path are pinned',
    [e('/w', 'write'), e('/w/a/b/.git', 'read')],
    ['write /w', 'write /w/a', 'write /w/a/b', 'read /w/a/b/.git'],
  ],
  [
    'what is read-only already is left out',
    [e('/w', 'write'), e('/w/.git', 'read'), e('/w/.git/hooks', 'read'), e('/etc', 'read')],
    ['write /w', 'read /w/.git'],
  ],
  [
    'the more specific path wins, whatever the order given',
    [e('/w/.git/x', 'write'), e('/w/.git', 'read'), e('/w', 'write')],
    ['write /w', 'read /w/.git', 'write /w/.git/x'],
  ],
  [
    'at equal depth deny beats read beats write',
    [e('/w', 'write'), e('/w/s', 'write'), e('/w/s', 'deny'), e('/w/s', 'read')],
    ['write /w', 'deny /w/s'],
  ],
  ['a denied path outside every root is still hidden', [e('/home/u/.ssh', 'deny')], ['deny /home/u/.ssh']],
  ['nothing below a denied path matters but a root', [e('/s', 'deny'), e('/s/a', 'deny')], ['deny /s']],
  [
    'a root inside a root: the way to it cannot be renamed',
    [e('/w', 'write'), e('/w/x/r', 'write'), e('/w/x/r/.git', 'read')],
    ['write /w', 'write /w/x', 'write /w/x/r', 'read /w/x/r/.git'],
  ],
];

describe('arrange', () => {
  it.each(ROWS)('%s', (_name, entries, expected) => {
    expect(short(arrange(entries))).toEqual(expected);
  });

  it('gives the same for any order of the entries', () => {
    for (const [, entries] of ROWS) expect(short(arrange([...entries].reverse()))).toEqual(short(arrange(entries)));
  });
});

describe('accessOf', () => {
  const entries = arrange([e('/w', 'write'), e('/w/.git', 'read'), e('/w/.git/index', 'write'), e('/s', 'deny')]);
  it.each([
    ['/w/src/x', 'write'],
    ['/w/.git/config', 'read'],
    ['/w/.git/index', 'write'],
    ['/w/.github', 'write'],
    ['/s/key', 'deny'],
    ['/etc/passwd', undefined],
  ] as const)('%s is %s', (path, access) => {
    expect(accessOf(entries, path)).toBe(access);
  });
});

import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { quoteArgv } from './quote-argv.js';

const cases: [string, string[], string][] = [
  ['plain words stay', ['/bin/bash', '-lc', 'ls'], '/bin/bash -lc ls'],
  ['spaces and operators take single quotes', ['-lc', 'echo hi; echo err >&2'], "-lc 'echo hi; echo err >&2'"],
  ['a single quote takes double quotes', ["echo 'a b'"], `"echo 'a b'"`],
  ['a backslash takes double quotes', ['a\\b'], '"a\\\\b"'],
  ['a single quote and a dollar are cut apart', ["echo '$HOME'"], `"echo '"'$HOME'"'"`],
  ['an empty word is seen', ['a', '', 'b'], "a '' b"],
  ['a caret stands at the start of single quotes', ['a^b'], "a'^b'"],
  ['other characters are quoted', ['日本', '~', '*', '#x', '=', '{a,b}', '\n'], "'日本' '~' '*' '#x' '=' '{a,b}' '\n'"],
  ['braces and brackets', ['[a]'], "'[a]'"],
];

test.each(cases)('%s', (_name, argv, expected) => {
  expect(quoteArgv(argv)).toBe(expected);
});

test('a shell reads every line back the same', () => {
  const argv = [...cases.flatMap(([, words]) => words), '!^`$"\'\\', "'''", '$(x) `y` \\"', 'tab\there'];
  const run = spawnSync('sh', ['-c', `printf '%s\\0' ${quoteArgv(argv)}`], { encoding: 'utf8' });
  expect(run.stdout.split('\0').slice(0, -1)).toEqual(argv);
});

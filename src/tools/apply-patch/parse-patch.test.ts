import { describe, expect, test } from 'vitest';
import { type ParsedPatch, parsePatch } from './parse-patch.js';
import { PatchError, renderPatchError } from './patch-error.js';

const wrap = (body: string) => `*** Begin Patch\n${body}\n*** End Patch`;
const update = (body: string) => wrap(`*** Update File: a\n${body}`);

function errorOf(text: string): string {
  try {
    parsePatch(text);
  } catch (error) {
    if (error instanceof PatchError) return renderPatchError(error);
    throw error;
  }
  return 'no error';
}

describe('what a patch says', () => {
  const rows: [string, string, Partial<ParsedPatch>][] = [
    ['an empty envelope has no hunks', '*** Begin Patch\n*** End Patch', { hunks: [] }],
    [
      'an added file',
      wrap('*** Add File: a\n+x\n+'),
      { hunks: [{ kind: 'add', path: 'a', content: 'x\n\n', line: 2 }] },
    ],
    [
      'an added file without lines is empty',
      wrap('*** Add File: a'),
      { hunks: [{ kind: 'add', path: 'a', content: '', line: 2 }] },
    ],
    ['a deleted file', wrap('*** Delete File: a b  '), { hunks: [{ kind: 'delete', path: 'a b', line: 2 }] }],
    [
      'more spaces before a name belong to it',
      wrap('*** Delete File:   a'),
      { hunks: [{ kind: 'delete', path: '  a', line: 2 }] },
    ],
    [
      'a move with a scope and an end mark',
      update('*** Move to: b\n@@ f()\n x\n-y\n+z\n*** End of File'),
      {
        hunks: [
          {
            kind: 'update',
            path: 'a',
            movePath: 'b',
            line: 2,
            chunks: [
              {
                scope: 'f()',
                line: 4,
                endOfFile: true,
                lines: [
                  { op: 'context', text: 'x' },
                  { op: 'remove', text: 'y' },
                  { op: 'add', text: 'z' },
                ],
              },
            ],
          },
        ],
      },
    ],
    [
      'the first chunk needs no @@, and an empty line is empty context',
      update('-y\n\n+z'),
      {
        hunks: [
          {
            kind: 'update',
            path: 'a',
            line: 2,
            chunks: [
              {
                line: 3,
                endOfFile: false,
                lines: [
                  { op: 'remove', text: 'y' },
                  { op: 'context', text: '' },
                  { op: 'add', text: 'z' },
                ],
              },
            ],
          },
        ],
      },
    ],
    [
      'an environment',
      '*** Begin Patch\n*** Environment ID: here\n*** Delete File: a\n*** End Patch',
      { environmentId: 'here' },
    ],
    [
      'CR before LF is no content',
      '*** Begin Patch\r\n*** Add File: a\r\n+x\r\r\r\n*** End Patch\r\n',
      { hunks: [{ kind: 'add', path: 'a', content: 'x\r\n', line: 2 }] },
    ],
    [
      'indented markers outside an update',
      '*** Begin Patch\n  *** Add File: a\n+x\n   *** End Patch',
      { hunks: [{ kind: 'add', path: 'a', content: 'x\n', line: 2 }] },
    ],
    [
      'an indented marker inside an update is context, but the last line ends the patch',
      update(' x\n *** Delete File: q\n   *** End Patch').replace(/\n\*\*\* End Patch$/, ''),
      {
        hunks: [
          {
            kind: 'update',
            path: 'a',
            line: 2,
            chunks: [
              {
                line: 3,
                endOfFile: false,
                lines: [
                  { op: 'context', text: 'x' },
                  { op: 'context', text: '*** Delete File: q' },
                ],
              },
            ],
          },
        ],
      },
    ],
    [
      'a here-document around it',
      `<<'EOF'\n${wrap('*** Delete File: a')}\nEOF\n`,
      { text: wrap('*** Delete File: a') },
    ],
  ];
  test.each(rows)('%s', (_, text, expected) => {
    expect(parsePatch(text)).toMatchObject(expected);
  });
});

describe('what is wrong with a patch', () => {
  const rows: [string, string, string | RegExp][] = [
    ['nothing at all', '\n', "Invalid patch: The last line of the patch must be '*** End Patch'"],
    [
      'no first line',
      '*** Delete File: a\n*** End Patch',
      "Invalid patch: The first line of the patch must be '*** Begin Patch'",
    ],
    [
      'no last line',
      '*** Begin Patch\n*** Delete File: a',
      "Invalid patch: The last line of the patch must be '*** End Patch'",
    ],
    ['another here-document word', `<<X\n${wrap('*** Delete File: a')}\nX`, /first line/],
    [
      'an empty name',
      wrap('*** Delete File: '),
      /^Invalid patch hunk on line 2: '\*\*\* Delete File:' is not a valid hunk header/,
    ],
    ['a line behind a deletion', wrap('*** Delete File: a\n-x'), /^Invalid patch hunk on line 3: '-x' is not/],
    [
      'an update without chunks',
      wrap('*** Update File: a\n*** Move to: b'),
      "Invalid patch hunk on line 2: Update file hunk for path 'a' is empty",
    ],
    ['a second move', update('*** Move to: b\n*** Move to: c\n-x'), /on line 4: Unexpected line/],
    ['a chunk without lines', update('@@ f'), 'Invalid patch hunk on line 4: Update hunk does not contain any lines'],
    [
      'an end mark in an empty chunk',
      update('@@\n*** End of File'),
      'Invalid patch hunk on line 4: Update hunk does not contain any lines',
    ],
    ['a scope on a scope', update('@@ a\n@@ b\n-x'), /on line 4: Unexpected line found in update hunk: '@@ b'/],
    [
      'a strange line behind a chunk',
      update('-x\nhm'),
      "Invalid patch hunk on line 4: Expected update hunk to start with a @@ context marker, got: 'hm'",
    ],
    [
      'two environments',
      '*** Begin Patch\n*** Environment ID: a\n*** Environment ID: b\n*** End Patch',
      /cannot be specified more than once/,
    ],
  ];
  const more: [string, string, string | RegExp][] = [
    [
      'a line behind the end',
      '*** Begin Patch\n*** Delete File: a\n*** End Patch\nx\n*** End Patch',
      /^Invalid patch: The last line/,
    ],
    [
      'a line behind the end mark',
      update('@@\n-x\n*** End of File\n\n+y'),
      /on line 7: Expected update hunk to start with a @@/,
    ],
    ['an empty environment', '*** Begin Patch\n*** Environment ID: \n*** End Patch', /cannot be empty/],
  ];
  test.each([...rows, ...more])('%s', (_, text, expected) => {
    expect(errorOf(text)).toMatch(expected);
  });
});

import { structuredPatch } from 'diff';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { editText } from './edit-text.js';
import { type PatchChunk, parsePatch } from './parse-patch.js';

function chunksOf(body: string): readonly PatchChunk[] {
  const hunk = parsePatch(`*** Begin Patch\n*** Update File: f\n${body}\n*** End Patch`).hunks[0];
  return hunk?.kind === 'update' ? hunk.chunks : [];
}

describe('the edited text', () => {
  const rows: [string, string, string, string][] = [
    ['a block is replaced', 'a\nb\nc\n', '@@\n-b\n+B', 'a\nB\nc\n'],
    ['exact beats tolerant, wherever it stands', '  b\nb \nb\n', '@@\n-b\n+B', '  b\nb \nB\n'],
    ['white space at the end beats both ends', '  b\nb \n', '@@\n-b\n+B', '  b\nB\n'],
    ['typographic dashes and spaces are found', 'a\u2013b\u2003c\n', '@@\n-a-b c\n+x', 'x\n'],
    [
      'context keeps the text of the file',
      '\tkeep \u201cme\u201d\nb\n',
      '@@\n keep "me"\n-b\n+B',
      '\tkeep \u201cme\u201d\nB\n',
    ],
    ['each chunk searches below the one before', 'x\ny\nx\ny\n', '@@\n-x\n+1\n@@\n-x\n+2', '1\ny\n2\ny\n'],
    ['an end mark takes the last place', 'x\ny\nx\n', '@@\n-x\n+1\n*** End of File', 'x\ny\n1\n'],
    [
      'an addition below its scope line',
      'def a():\ndef b():\n',
      '@@ def a():\n+    x = 1',
      'def a():\n    x = 1\ndef b():\n',
    ],
    ['an addition with a scope and an end mark goes to the end', 'a\nb\n', '@@ a\n+x\n*** End of File', 'a\nb\nx\n'],
    ['an addition without a scope goes to the end', 'a\nb\n', '@@\n+x', 'a\nb\nx\n'],
    ['… behind blank last lines', 'a\n\n', '@@\n+x\n@@\n+y', 'a\n\nx\ny\n'],
    ['additions at one place keep their order', 'a\nb\n', '@@\n+x\n@@\n b\n+y', 'a\nb\nx\ny\n'],
    ['no final newline stays none', 'one\ntwo\nthree', '@@\n-one\n+1', '1\ntwo\nthree'],
    ['… also when the last line is context', 'one\ntwo', '@@\n-one\n+1\n two', '1\ntwo'],
    ['a changed last line gets one', 'one\ntwo', '@@\n-two\n+2', 'one\n2\n'],
    ['a removed last line gives the new last one an end', 'one\ntwo', '@@\n-two', 'one\n'],
    ['CRLF files get CRLF lines', 'a\r\nb\r\n', '@@\n-b\n+B\n+C', 'a\r\nB\r\nC\r\n'],
    ['mixed files: new lines end like the first, the others stay', 'a\nb\r\nc\r\n', '@@\n-b\n+B', 'a\nB\nc\r\n'],
    ['a byte order mark stays', '\ufeffa\nb\n', '@@\n-b\n+B', '\ufeffa\nB\n'],
    ['a byte order mark can be matched', '\ufeffa\nb\n', '@@\n-\ufeffa\n+\ufeffA', '\ufeffA\nb\n'],
    ['all lines removed leave an empty file', 'a\nb', '@@\n-a\n-b', ''],
    ['a blank line too many at the end of the block', 'a\nb\n', '@@\n-b\n-\n+B', 'a\nB\n'],
    ['a lone CR ends a line', 'a\rb\nc\r', '@@\n-b\n+B', 'a\rB\rc\r'],
  ];
  test.each(rows)('%s', (_, before, body, after) => {
    expect(editText(before, chunksOf(body), 'f')).toBe(after);
  });
});

describe('a patch that does not fit says why', () => {
  const rows: [string, string, string, RegExp][] = [
    [
      'missing lines and what is near',
      'alpha\nbeta = 1\n',
      '@@\n-beta = 2\n+x',
      /^Failed to find expected lines in f:\nbeta = 2\n\(chunk 1 of this file, line 3 of the patch; nearest text is line 2: beta = 1\)$/,
    ],
    [
      'a missing scope',
      'class A:\n',
      '@@ class B:\n-x',
      /^Failed to find context 'class B:' in f\n.*nearest text is line 1: class A:/,
    ],
    ['nothing similar', 'alpha\n', '@@\n-zzzz', /no similar text/],
    ['chunks in the wrong order', 'a\nb\n', '@@\n-b\n+B\n@@\n-a\n+A', /chunk 2 .* begin on line 1, above/],
    ['an end mark that is wrong', 'a\nb\n', '@@\n-a\n+A\n*** End of File', /begin on line 1, not at the end/],
    ['case is never tolerated', 'Alpha\n', '@@\n-alpha\n+x', /nearest text is line 1: Alpha/],
    ['a byte order mark is no white space', '\ufeffalpha\n', '@@\n-alpha\n+x', /byte order mark/],
  ];
  test.each(rows)('%s', (_, before, body, message) => {
    expect(() => editText(before, chunksOf(body), 'f')).toThrow(message);
  });
});

describe('for any two texts', () => {
  const line = fc.oneof(
    fc.constantFrom('', 'a', 'b', 'c', '}', '  return x;', '@@ a', '*** End Patch', '-', '+'),
    fc.string({ maxLength: 6 }).map((text) => text.replace(/[\r\n]/g, '')),
  );
  const text = fc.array(line, { maxLength: 30 });

  test('their difference as a patch turns one into the other', () => {
    fc.assert(
      fc.property(text, text, fc.constantFrom('\n', '\r\n'), (before, after, end) => {
        fc.pre(before.join('\n') !== after.join('\n') && (before.length > 0 || end === '\n'));
        const join = (lines: readonly string[]) => lines.map((one) => one + end).join('');
        expect(editText(join(before), differenceOf(before, after), 'f')).toBe(join(after));
      }),
      { numRuns: 500 },
    );
  });

  /** One chunk over the whole file: the only form of a difference that is never ambiguous. */
  function differenceOf(before: readonly string[], after: readonly string[]): PatchChunk[] {
    const join = (lines: readonly string[]) => lines.map((one) => `${one}\n`).join('');
    const patch = structuredPatch('', '', join(before), join(after), '', '', { context: 1000 });
    const ops = { ' ': 'context', '-': 'remove', '+': 'add' } as const;
    const lines = patch.hunks
      .flatMap((hunk) => hunk.lines)
      .map((one) => ({ op: ops[one[0] as keyof typeof ops], text: one.slice(1) }));
    return [{ lines, endOfFile: false, line: 3 }];
  }
});

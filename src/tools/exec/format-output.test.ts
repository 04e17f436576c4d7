import { describe, expect, test } from 'vitest';
import { estimateTokens, formatExecOutput, truncateOutput } from './format-output.js';

const base = { chunkId: '2c56fb', wallMs: 412.1, text: 'hi\nerr\n', originalTokens: 2, maxOutputTokens: 10_000 };

describe('layout', () => {
  test('of a command that ended', () => {
    expect(formatExecOutput({ ...base, state: { exitCode: 0 } })).toBe(
      'Chunk ID: 2c56fb\nWall time: 0.4121 seconds\nProcess exited with code 0\nOriginal token count: 2\nOutput:\nhi\nerr\n',
    );
  });

  test('of one that goes on, without output', () => {
    expect(formatExecOutput({ ...base, text: '', originalTokens: 0, state: { sessionId: 11134 } })).toBe(
      'Chunk ID: 2c56fb\nWall time: 0.4121 seconds\nProcess running with session ID 11134\nOriginal token count: 0\nOutput:\n',
    );
  });
});

describe('truncation', () => {
  test('as recorded: head and tail, half of the budget each', () => {
    const numbers = Array.from({ length: 20_000 }, (_, n) => `${n + 1}\n`).join('');
    const text = `MARK-HEAD\n${numbers}MARK-TAIL\n`;
    const originalTokens = estimateTokens(text.length);
    const cut = truncateOutput({ text, originalTokens, maxOutputTokens: 300 });
    expect(originalTokens).toBe(27_229);
    expect(cut).toBe(
      'Warning: truncated output (original token count: 27229)\nTotal output lines: 20002\n\n' +
        `${text.slice(0, 600)}…26929 tokens truncated…${text.slice(-600)}`,
    );
  });

  test.each([
    ['what fits stays', 'x'.repeat(40), 10, 'x'.repeat(40)],
    ['bytes count, not characters', '€€€€', 3, '€€€€'],
    [
      'characters stay whole',
      '€€€€',
      2,
      'Warning: truncated output (original token count: 3)\nTotal output lines: 1\n\n€…1 tokens truncated…€',
    ],
    [
      'no budget at all',
      'some\ntext\n',
      0,
      'Warning: truncated output (original token count: 3)\nTotal output lines: 2\n\n…3 tokens truncated…',
    ],
  ])('%s', (_name, text, maxOutputTokens, expected) => {
    const originalTokens = estimateTokens(Buffer.byteLength(text));
    expect(truncateOutput({ text, originalTokens, maxOutputTokens })).toBe(expected);
  });
});

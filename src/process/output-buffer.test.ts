import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { completeEnd, completeStart, OutputBuffer } from './output-buffer.js';

const bytes = (text: string) => Buffer.from(text);

describe('takeNew', () => {
  test('gives each piece of output once', () => {
    const buffer = new OutputBuffer();
    buffer.append(bytes('one\n'));
    expect(buffer.takeNew()).toEqual({ text: 'one\n', bytes: 4, lines: 1, droppedBytes: 0, droppedLines: 0 });
    buffer.append(bytes('two'));
    buffer.append(bytes(' three'));
    expect(buffer.takeNew()).toMatchObject({ text: 'two three', lines: 1 });
    expect(buffer.takeNew()).toMatchObject({ text: '', bytes: 0, lines: 0 });
  });

  test('keeps back an unfinished character until the rest arrives', () => {
    const buffer = new OutputBuffer();
    const euro = bytes('€');
    buffer.append(Buffer.concat([bytes('a'), euro.subarray(0, 2)]));
    expect(buffer.takeNew().text).toBe('a');
    buffer.append(euro.subarray(2));
    expect(buffer.takeNew().text).toBe('€');
  });

  test('gives out an unfinished character at the end, replaced', () => {
    const buffer = new OutputBuffer();
    buffer.append(bytes('€').subarray(0, 2));
    buffer.end();
    expect(buffer.takeNew().text).toBe('\ufffd');
  });

  test('replaces bytes that are no UTF-8 and keeps a byte order mark', () => {
    const buffer = new OutputBuffer();
    buffer.append(Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xff, 0xc3, 0x62]));
    expect(buffer.takeNew().text).toBe('\ufeffa\ufffd\ufffdb');
  });

  test('past the bound keeps head and tail, and counts what it drops', () => {
    const buffer = new OutputBuffer(16);
    for (let line = 0; line < 10; line++) buffer.append(bytes(`line ${line}\n`));
    buffer.end();
    expect(buffer.takeNew()).toEqual({
      text: 'line 0\nl\n[… 54 bytes (7 lines) of output dropped here …]\n\nline 9\n',
      bytes: 70,
      lines: 10,
      droppedBytes: 54,
      droppedLines: 7,
    });
  });

  test('past the bound it cuts between characters', () => {
    const buffer = new OutputBuffer(10);
    buffer.append(bytes('€€€€€€€€'));
    buffer.end();
    const slice = buffer.takeNew();
    expect(slice.text).toMatch(/^€\n.*\n€$/);
    expect(slice.droppedBytes).toBe(18);
  });

  test('one chunk larger than everything', () => {
    const buffer = new OutputBuffer(8);
    buffer.append(bytes(`HEAD${'x'.repeat(100)}TAIL`));
    expect(buffer.takeNew().text).toMatch(/^HEAD\n.*100 bytes.*\nTAIL$/s);
  });

  test('however the bytes are cut and read, nothing is lost below the bound', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.array(fc.nat({ max: 5 })), (text, cuts) => {
        const buffer = new OutputBuffer();
        const all = bytes(text);
        let at = 0;
        let seen = '';
        for (const size of cuts) {
          buffer.append(all.subarray(at, at + size));
          at += size;
          seen += buffer.takeNew().text;
        }
        buffer.append(all.subarray(at));
        buffer.end();
        expect(seen + buffer.takeNew().text).toBe(all.toString());
      }),
    );
  });
});

test.each([
  ['ascii', 'abc', 3, 0],
  ['whole character', 'a€', 4, 0],
  ['lead byte only', Buffer.from([0x61, 0xe2]), 1, 0],
  ['lead and one of two', Buffer.from([0x61, 0xe2, 0x82]), 1, 0],
  ['four byte lead with two', Buffer.from([0xf0, 0x9f, 0x98]), 0, 0],
  ['starts inside a character', Buffer.from([0x82, 0xac, 0x61]), 3, 2],
  ['stray bytes are no characters', Buffer.from([0x80, 0x80, 0x80, 0x80]), 4, 3],
  ['impossible lead', Buffer.from([0xff]), 1, 0],
])('%s', (_name, input, end, start) => {
  const buffer = Buffer.from(input as string);
  expect([completeEnd(buffer), completeStart(buffer)]).toEqual([end, start]);
});

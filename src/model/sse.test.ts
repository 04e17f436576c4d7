import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SseParser } from './sse.js';

function parse(chunks: readonly string[]): string[] {
  const found: string[] = [];
  const parser = new SseParser((data) => found.push(data));
  for (const chunk of chunks) parser.push(chunk);
  parser.end();
  return found;
}

describe('SseParser', () => {
  test.each<[string, string, string[]]>([
    ['one event', 'data: a\n\n', ['a']],
    ['CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n', ['a', 'b']],
    ['no space after the colon', 'data:a\n\n', ['a']],
    ['only one space is dropped', 'data:  a\n\n', [' a']],
    ['several data lines are one payload', 'data: a\ndata: b\n\n', ['a\nb']],
    ['names, ids and comments are passed over', ': hi\nevent: x\nid: 7\nretry: 1\ndata: a\n\n', ['a']],
    ['a field that only begins like data', 'database: a\n\ndata: b\n\n', ['b']],
    ['no data, no event', 'event: ping\n\n\n\n', []],
    ['a last event without its blank line', 'data: a\n\ndata: b', ['a', 'b']],
    ['an empty payload', 'data\n\ndata:\n\n', []],
  ])('%s', (_name, text, expected) => {
    expect(parse([text])).toEqual(expected);
  });

  test('a chunk may end anywhere', () => {
    const line = fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[\r\n]/g, ''));
    const events = fc.array(fc.array(line, { minLength: 1, maxLength: 3 }), { maxLength: 6 });
    fc.assert(
      fc.property(
        events,
        fc.constantFrom('\n', '\r\n'),
        fc.array(fc.nat(400), { maxLength: 20 }),
        (list, eol, cuts) => {
          const text = list.map((lines) => lines.map((value) => `data: ${value}${eol}`).join('') + eol).join('');
          const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
          const chunks = [...places, text.length].map((end, i) => text.slice(i === 0 ? 0 : places[i - 1], end));
          expect(parse(chunks)).toEqual(list.map((lines) => lines.join('\n')).filter((data) => data !== ''));
        },
      ),
    );
  });

  test('an event without end is given up', () => {
    const parser = new SseParser(() => {});
    const megabytes = 'x'.repeat(8 * 1024 * 1024);
    let sane = parser.push(`data: ${megabytes}`);
    for (let i = 0; i < 10 && sane; i++) sane = parser.push(megabytes);
    expect(sane).toBe(false);
  });
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ThinkTags } from './think-tags.js';

function split(pieces: readonly string[]) {
  const tags = new ThinkTags();
  const parts = [...pieces.map((piece) => tags.push(piece)), tags.end()];
  return { thought: parts.map((part) => part.thought).join(''), text: parts.map((part) => part.text).join('') };
}

test.each<[string, string, { thought: string; text: string }]>([
  ['no thoughts', 'Hello', { thought: '', text: 'Hello' }],
  ['thoughts, then text', '<think>hm</think>\n\nHello', { thought: 'hm', text: 'Hello' }],
  ['white space before the tag', '\n<think>hm</think>Hello', { thought: 'hm', text: 'Hello' }],
  ['a tag later is text', 'Use <think>x</think>', { thought: '', text: 'Use <think>x</think>' }],
  ['only one block', '<think>a</think><think>b</think>', { thought: 'a', text: '<think>b</think>' }],
  ['thoughts that never end', '<think>a </thin', { thought: 'a </thin', text: '' }],
  ['less than a tag', '<thi', { thought: '', text: '<thi' }],
])('%s', (_name, all, expected) => {
  expect(split([all])).toEqual(expected);
  fc.assert(
    fc.property(fc.array(fc.nat(all.length), { maxLength: 8 }), (cuts) => {
      const places = [...cuts].sort((a, b) => a - b);
      const pieces = [...places, all.length].map((end, i) => all.slice(i === 0 ? 0 : places[i - 1], end));
      const found = split(pieces);
      // White space between thoughts and text may fall on either side of a cut.
      expect({ ...found, text: found.text.trimStart() }).toEqual(expected);
    }),
  );
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSecretMasker } from './secret-masker.js';

const SECRET = 'sk-abcdef123456';

test.each([
  ['a secret', `key=${SECRET}!`, 'key=[secret]!'],
  ['twice', `${SECRET} ${SECRET}`, '[secret] [secret]'],
  ['its beginning only', 'sk-abcdef', 'sk-abcdef'],
  ['a short value is left alone', 'short', 'short'],
])('%s', (_name, text, expected) => {
  expect(createSecretMasker([SECRET, 'short']).mask(text)).toBe(expected);
});

test('the longer of two overlapping secrets wins', () => {
  expect(createSecretMasker(['password', 'password-long']).mask('password-long')).toBe('[secret]');
});

test('in a stream a secret is found wherever the chunks are cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('sk-', SECRET, 'x', 'sk-abc', 'passw0rd-', 'passw0rd-1\n'), { maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 7 })),
      (parts, sizes) => {
        const masker = createSecretMasker([SECRET, 'passw0rd-1']);
        const all = Buffer.from(parts.join(''));
        const stream = masker.stream();
        const out: Buffer[] = [];
        let at = 0;
        for (const size of sizes) {
          out.push(Buffer.from(stream.push(all.subarray(at, at + size))));
          at += size;
        }
        out.push(stream.push(all.subarray(at)), stream.end());
        expect(Buffer.concat(out).toString()).toBe(masker.mask(all.toString()));
      },
    ),
  );
});

test('without secrets bytes pass untouched', () => {
  const bytes = Buffer.from('anything');
  expect(createSecretMasker([]).stream().push(bytes)).toBe(bytes);
});

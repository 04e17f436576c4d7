import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readRegularFile } from './read-regular-file.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'tw-read-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string) => path.join(folder, name);

test.each([
  ['empty', ''],
  ['short', 'text'],
  ['as long as allowed', 'x'.repeat(100_000)],
])('a file: %s', async (name, text) => {
  writeFileSync(at(name), text);
  symlinkSync(at(name), at(`${name}.link`));
  expect((await readRegularFile(at(`${name}.link`), 100_000)).toString()).toBe(text);
});

test('a file of /proc, whose size says nothing', async () => {
  expect((await readRegularFile('/proc/self/status', 100_000)).toString()).toMatch(/^Name:/);
});

test.each([
  ['a pipe', () => execFileSync('mkfifo', [at('refused')]), 'EINVAL'],
  ['a device without end', () => symlinkSync('/dev/zero', at('refused')), 'EINVAL'],
  ['a folder', () => symlinkSync('/proc', at('refused')), 'EISDIR'],
  ['a file that is too long', () => writeFileSync(at('refused'), 'x'.repeat(100_001)), 'EFBIG'],
  ['a file of /proc that is too long', () => symlinkSync('/proc/kallsyms', at('refused')), 'EFBIG'],
  ['nothing', () => {}, 'ENOENT'],
])('%s is refused at once', async (_name, make, code) => {
  make();
  await expect(readRegularFile(at('refused'), 100_000)).rejects.toMatchObject({ code });
  rmSync(at('refused'), { force: true });
});

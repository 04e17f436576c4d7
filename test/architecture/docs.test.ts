/** Docs say what is true: the generated page is current, and every link of the README leads somewhere. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');

test('docs/errors.md is what the table of codes says', () => {
  const { stdout } = spawnSync(path.join(ROOT, 'node_modules/.bin/tsx'), ['scripts/errors-page.ts'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect(readFileSync(path.join(ROOT, 'docs/errors.md'), 'utf8')).toBe(stdout);
});

test.each(['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md'])('every link of %s leads somewhere', (page) => {
  const links = [...readFileSync(path.join(ROOT, page), 'utf8').matchAll(/\]\(([^)#:]+)\)/g)].map((match) => match[1]!);
  expect(links.filter((link) => !existsSync(path.join(ROOT, link)))).toEqual([]);
});

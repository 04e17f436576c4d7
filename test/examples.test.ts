/** The examples run as they are against the built package, and the code in the documentation is theirs. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const examples = path.join(root, 'examples');
const home = mkdtempSync(path.join(tmpdir(), 'examples-home-'));

afterAll(() => rmSync(home, { recursive: true, force: true }));

describe('examples', () => {
  const files = readdirSync(examples).filter((file) => file.endsWith('.mjs'));

  test('there are some', () => expect(files.length).toBeGreaterThan(4));

  test.for(files)('%s', async (file, { signal }) => {
    const { status, stdout, stderr } = await runNode(path.join(examples, file), signal);
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.any(String) });
    expect(stdout).toMatch(new RegExp(`^${path.basename(file, '.mjs')}: `));
  });
});

describe('code in the documentation', () => {
  const docs = path.join(root, 'docs');
  const snippets = readdirSync(docs)
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) => snippetsOf(file, readFileSync(path.join(docs, file), 'utf8')));

  test('there is some', () => expect(snippets.length).toBeGreaterThan(3));

  test.each(snippets)('$page shows $example', ({ example, code }) => {
    expect(flat(readFileSync(path.join(root, example), 'utf8'))).toContain(flat(code));
  });
});

/** Code under a line `<!-- examples/… -->`. */
function snippetsOf(page: string, text: string): { page: string; example: string; code: string }[] {
  const found = text.matchAll(/<!-- (examples\/\S+) -->\n```\w+\n(.*?)```/gs);
  return [...found].map(([, example, code]) => ({ page, example: example!, code: code! }));
}

/** Without indentation and empty lines. */
function flat(code: string): string {
  const lines = code.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').join('\n');
}

function runNode(
  file: string,
  signal: AbortSignal,
): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const env = { PATH: process.env['PATH'], HOME: home, SHELL: '/bin/bash' };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [file], { env, signal, cwd: root }, (_error, stdout, stderr) =>
      resolve({ status: child.exitCode, stdout, stderr }),
    );
  });
}

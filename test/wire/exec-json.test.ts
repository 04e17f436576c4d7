/** The recorded runs of `exec --json`, judged by the recordings' own runner against the built program. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { PROGRAM, requireBuild } from './exec-support.js';

const FOLDER = path.resolve(import.meta.dirname, '../conformance/exec-json');

/** Cases whose part is not built yet. */
const PENDING: readonly string[] = ['mcp-tool-error'];

beforeAll(requireBuild);

test('every recorded run is reproduced', () => {
  const cases = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
  const files = cases.filter((name) => !PENDING.includes(path.basename(name, '.json')));
  expect(cases).toEqual(expect.arrayContaining(PENDING.map((name) => `${name}.json`)));
  const run = spawnSync(
    process.execPath,
    [
      path.join(FOLDER, 'run.mjs'),
      '--cmd',
      `"${process.execPath}" "${PROGRAM}"`,
      ...files.map((name) => path.join(FOLDER, name)),
    ],
    { encoding: 'utf8', timeout: 300_000 },
  );
  expect(run.stdout.trim()).toBe(`${files.length} passed, 0 failed`);
}, 300_000);

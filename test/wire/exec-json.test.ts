/** The recorded runs of `exec --json`, judged by the recordings' own runner against the built program. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { PROGRAM, requireBuild } from './exec-support.js';

const FOLDER = path.resolve(import.meta.dirname, '../conformance/exec-json');

beforeAll(requireBuild);

test('every recorded run is reproduced', () => {
  const cases = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
  expect(cases.length).toBeGreaterThanOrEqual(40);
  const run = spawnSync(
    process.execPath,
    [path.join(FOLDER, 'run.mjs'), '--cmd', `"${process.execPath}" "${PROGRAM}"`],
    { encoding: 'utf8', timeout: 300_000 },
  );
  expect(run.stdout.trim()).toBe(`${cases.length} passed, 0 failed`);
}, 300_000);

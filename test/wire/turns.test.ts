/** The recorded turn scenarios, replayed by their own runner against the built app-server. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROGRAM, requireBuild } from './exec-support.js';

const FOLDER = path.resolve(import.meta.dirname, '../conformance/turns');

/** Scenarios of features that do not exist yet. They are not run: most of them would only wait for their time limit. */
const PENDING = [
  'compact-auto-pre-turn',
  'compact-interrupt',
  'compact-manual',
  'compact-mid-turn-with-steer',
  'failed-context-window', // wants a compaction after it
  'fork-mid-turn',
  'shell-command-idle',
];

beforeAll(requireBuild);

// Homes must not lie in a temporary folder, which is writable in workspace-write.
const cache = path.join(process.env['XDG_CACHE_HOME'] ?? path.join(os.homedir(), '.cache'), 'turnwright-conformance');
mkdirSync(cache, { recursive: true });
const work = mkdtempSync(path.join(cache, 'turns-'));
afterAll(() => rmSync(work, { recursive: true, force: true }));

test('every scenario of a feature that exists is reproduced at core level', () => {
  const scenarios = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
  expect(scenarios.length).toBeGreaterThanOrEqual(112);
  const files = scenarios
    .filter((name) => !PENDING.includes(path.basename(name, '.json')))
    .map((name) => path.join(FOLDER, name));
  expect(files).toHaveLength(scenarios.length - PENDING.length);
  const args = [
    path.join(FOLDER, 'run.mjs'),
    '--cmd',
    `${process.execPath} ${PROGRAM} app-server`,
    '--work',
    work,
    '--slow',
    '3',
    ...files,
  ];
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 900_000 });
  expect(stdout).toMatch(/equal to the reference/);
  expect(
    [...stdout.matchAll(/^FAIL (\S+)/gm)].map((match) => match[1]),
    stdout,
  ).toEqual([]);
}, 900_000);

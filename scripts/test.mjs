// What CI runs: build, typecheck, lint, all tests. Ends with a line `N passed, N failed`.
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(path.dirname(path.dirname(fileURLToPath(import.meta.url))));
const bin = (name) => path.join('node_modules', '.bin', name);
let passed = 0;
let failed = 0;

function check(name, command, args) {
  process.stdout.write(`\n== ${name}\n`);
  const run = spawnSync(command, args, { stdio: 'inherit' });
  if (run.status === 0) passed++;
  else failed++;
}

check('build', process.execPath, ['scripts/build.mjs']);
check('typecheck', bin('tsc'), ['--noEmit']);
check('lint', bin('biome'), ['check', '--error-on-warnings', '.']);

process.stdout.write('\n== tests\n');
const report = path.join(os.tmpdir(), `turnwright-tests-${process.pid}.json`);
const run = spawnSync(
  bin('vitest'),
  ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...process.argv.slice(2)],
  {
    stdio: 'inherit',
  },
);
let skipped = 0;
try {
  const result = JSON.parse(readFileSync(report, 'utf8'));
  passed += result.numPassedTests;
  failed += result.numFailedTests;
  skipped = result.numPendingTests + result.numTodoTests;
  if (run.status !== 0 && result.numFailedTests === 0) failed++;
} catch {
  failed++;
}
rmSync(report, { force: true });
process.stdout.write(`\n${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}\n`);
process.exit(failed ? 1 : 0);

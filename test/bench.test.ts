/** The bench runs and produces every metric. What the numbers are is not a matter for tests. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { expect, test } from 'vitest';

interface Metric {
  readonly id: string;
  readonly values: Readonly<Record<string, number>>;
}

test('the smallest bench produces every metric', async () => {
  const script = path.resolve(import.meta.dirname, '../bench/run.mjs');
  const child = spawn(process.execPath, [script, '--tiny', '--json'], { stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (bytes) => {
    stdout += bytes;
  });
  child.stderr.on('data', (bytes) => {
    stderr += bytes;
  });
  const [status] = await once(child, 'close');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const { metrics } = JSON.parse(stdout) as { metrics: readonly Metric[] };
  expect(metrics.map(({ id }) => id)).toEqual([
    ...['version', 'versionCpu', 'startToRequest', 'answerToExit', 'startToExit', 'startCpu'],
    ...['Full', 'Sandboxed'].flatMap((how) =>
      ['gap', 'before', 'after', 'firstGap', 'ownCpu', 'allCpu', 'written'].map((key) => key + how),
    ),
    ...['overlap', 'parallel', 'callEarly', 'callLate', 'historySlope', 'engineCall'],
    ...['deltaCpu', 'decodeCpu', 'decodeRate'],
  ]);
  for (const { id, values } of metrics)
    expect(Object.entries(values), id).toEqual([
      ['turnwright', expect.any(Number)],
      ['floor', expect.any(Number)],
    ]);
});

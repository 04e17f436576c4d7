// Whether a call gets dearer the longer its thread is.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { call, callSteps } from '../lib/model-server.mjs';
import { interleave, median } from '../lib/numbers.mjs';
import { gaps, runTurn } from '../lib/turn.mjs';

const WINDOW = 10;

/** Over HTTP: a tool that starts no process, with 4 KB of arguments a call. */
export async function measureHistory(bench, { rounds, calls }) {
  const filling = 'x'.repeat(4096);
  const plan = [{ step: 'measure', status: 'in_progress' }];
  const steps = callSteps(calls, (n) => call(n, 'update_plan', { explanation: filling, plan }));
  const runs = await interleave(bench.programs, rounds, async (program) => {
    const all = gaps(await runTurn(bench, program, { steps }));
    const early = median(all.slice(WINDOW, 2 * WINDOW));
    const late = median(all.slice(-WINDOW));
    return { early, late, slope: (1000 * (late - early)) / (calls - 2 * WINDOW) };
  });
  return [
    bench.metric('callEarly', 'call without a process, early in the thread', 'ms', runs, (run) => run.early),
    bench.metric('callLate', `the same at call ${calls}`, 'ms', runs, (run) => run.late),
    bench.metric('historySlope', 'more per call of history', 'µs', runs, (run) => run.slope),
  ];
}

/** Without HTTP and processes: only the engine. Its own floor is itself, early in the thread. */
export function measureEngine(bench, { rounds, calls }) {
  const script = fileURLToPath(new URL('../engine-alone.mjs', import.meta.url));
  const args = [script, bench.place.dist('testing.js'), `${calls}`, `${rounds}`];
  const run = spawnSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  if (run.status !== 0) throw new Error('the engine alone did not end well');
  const { early, late } = JSON.parse(run.stdout);
  const results = new Map([
    ['turnwright', late],
    ['floor', early],
  ]);
  return [bench.metric('engineCall', `engine alone: call ${calls} against call 10`, 'ms', results, (value) => value)];
}

// What a streamed token costs: in the whole program, and in the reading of the stream alone.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { completed, created, delta, messageEnd, messageStart } from '../lib/model-server.mjs';
import { cpuOf, interleave, mean, median } from '../lib/numbers.mjs';
import { runTurn } from '../lib/turn.mjs';

const TEXT = 'word ';
/** Sent in pieces like those of a network. */
const PER_WRITE = 20;

function streamStep(deltas) {
  const writes = [];
  for (let left = deltas; left > 0; left -= PER_WRITE) writes.push(delta('m', TEXT).repeat(Math.min(left, PER_WRITE)));
  return [created(0) + messageStart('m'), ...writes, messageEnd('m', TEXT.repeat(deltas)) + completed(0)];
}

/** The whole program: CPU time of a long answer over that of a short one. */
export async function measureDeltas(bench, { rounds, deltas }) {
  const runs = await interleave(bench.programs, rounds, async (program) => {
    const short = await cpuOfTurn(bench, program, streamStep(1));
    return (1000 * ((await cpuOfTurn(bench, program, streamStep(deltas))) - short)) / deltas;
  });
  return [bench.metric('deltaCpu', 'CPU per streamed delta', 'µs', runs, (cost) => cost, mean)];
}

async function cpuOfTurn(bench, program, step) {
  const before = cpuOf(process.pid).children;
  await runTurn(bench, program, { steps: [step] });
  return cpuOf(process.pid).children - before;
}

/** The decoder alone, against reading the same bytes and dropping them. */
export async function measureDecoder(bench, { rounds, deltas }) {
  const modelDoor = await bundleModel(path.join(bench.place.work, 'model.mjs'));
  const readers = [
    { name: 'turnwright', mode: 'decode' },
    { name: 'floor', mode: 'raw' },
  ];
  const step = streamStep(deltas);
  const bytes = step.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const runs = await interleave(readers, rounds, ({ mode }) => cpuOfReading(bench, mode, modelDoor, step));
  return [
    bench.metric('decodeCpu', 'decoding: CPU per delta', 'µs', runs, (cpuMs) => (1000 * cpuMs) / deltas),
    bench.metric('decodeRate', 'decoding: MB per CPU second', 'MB/s', runs, (cpuMs) => bytes / 1000 / cpuMs, median),
  ];
}

/** The decoder is no part of the public doors. */
async function bundleModel(outfile) {
  const { build } = await import('esbuild');
  const entry = fileURLToPath(new URL('../../src/model/index.ts', import.meta.url));
  await build({ entryPoints: [entry], outfile, bundle: true, format: 'esm', platform: 'node', target: 'node20' });
  return outfile;
}

async function cpuOfReading(bench, mode, modelDoor, step) {
  bench.server.begin({ steps: [step, step] }); // the first one warms the reader up
  const reader = fileURLToPath(new URL('../read-stream.mjs', import.meta.url));
  const args = [reader, mode, modelDoor, `http://127.0.0.1:${bench.server.port}/v1`];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (text) => (output += text));
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(`reading the stream (${mode}) failed`);
  return Number(output);
}

// `npm run bench [-- --quick] [--json] [--codex PATH] [--only NAME,…]`: what turnwright costs, against the least that a
// program on Node could cost, and against Codex CLI where a path to it is given. Only ratios within one run count.
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createMetrics, printTable } from './lib/metrics.mjs';
import { serveModel } from './lib/model-server.mjs';
import { createPlace, programsAt } from './lib/place.mjs';
import { measureGap } from './measures/gap.mjs';
import { measureEngine, measureHistory } from './measures/history.mjs';
import { measureOverlap, measureParallel } from './measures/side-by-side.mjs';
import { measureStart, measureVersion } from './measures/start.mjs';
import { measureDecoder, measureDeltas } from './measures/streams.mjs';

/** Counts by effort: `tiny` only shows that everything works. */
const MEASURES = {
  version: { run: measureVersion, tiny: { rounds: 1 }, quick: { rounds: 7 }, full: { rounds: 25 } },
  start: { run: measureStart, tiny: { rounds: 1 }, quick: { rounds: 7 }, full: { rounds: 25 } },
  gap: {
    run: (bench, counts) => measureGap(bench, { ...counts, sandboxed: false }),
    tiny: { rounds: 1, calls: 3 },
    quick: { rounds: 3, calls: 20 },
    full: { rounds: 7, calls: 60 },
  },
  sandbox: {
    run: (bench, counts) => measureGap(bench, { ...counts, sandboxed: true }),
    tiny: { rounds: 1, calls: 3 },
    quick: { rounds: 3, calls: 15 },
    full: { rounds: 7, calls: 40 },
  },
  overlap: {
    run: measureOverlap,
    tiny: { rounds: 1, ms: 100 },
    quick: { rounds: 3, ms: 1000 },
    full: { rounds: 7, ms: 1000 },
  },
  parallel: {
    run: measureParallel,
    tiny: { rounds: 1, calls: 2, ms: 50 },
    quick: { rounds: 3, calls: 8, ms: 500 },
    full: { rounds: 7, calls: 8, ms: 500 },
  },
  history: {
    run: measureHistory,
    tiny: { rounds: 1, calls: 40 },
    quick: { rounds: 1, calls: 400 },
    full: { rounds: 3, calls: 1000 },
  },
  engine: {
    run: measureEngine,
    tiny: { rounds: 1, calls: 60 },
    quick: { rounds: 3, calls: 1000 },
    full: { rounds: 9, calls: 1000 },
  },
  deltas: {
    run: measureDeltas,
    tiny: { rounds: 1, deltas: 1000 },
    quick: { rounds: 2, deltas: 30_000 },
    full: { rounds: 5, deltas: 200_000 },
  },
  decoder: {
    run: measureDecoder,
    tiny: { rounds: 1, deltas: 1000 },
    quick: { rounds: 3, deltas: 100_000 },
    full: { rounds: 7, deltas: 200_000 },
  },
};

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    tiny: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    codex: { type: 'string' },
    only: { type: 'string' },
  },
});

const effort = options.tiny ? 'tiny' : options.quick ? 'quick' : 'full';
const wanted = options.only?.split(',') ?? Object.keys(MEASURES);
for (const name of wanted) {
  if (MEASURES[name]) continue;
  console.error(`there is no measure "${name}"; there are ${Object.keys(MEASURES).join(', ')}`);
  process.exit(2);
}
if (options.codex !== undefined && !existsSync(options.codex)) {
  console.error(`there is no program at ${options.codex}`);
  process.exit(2);
}

const place = createPlace();
const server = await serveModel();
try {
  const programs = programsAt(place, options.codex);
  const bench = { place, server, programs, codex: options.codex, ...createMetrics() };
  const metrics = [];
  for (const name of wanted) {
    const { run, [effort]: counts } = MEASURES[name];
    if (!options.json) process.stderr.write(`${name}…\n`);
    metrics.push(...(await run(bench, counts)));
  }
  if (options.json) console.log(JSON.stringify({ effort, node: process.version, metrics }, null, 2));
  else printTable(metrics);
} finally {
  server.close();
  place.remove();
}

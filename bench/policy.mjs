// Policy decisions per second: literal argv and scripts, cold and warm, 10 to 10,000 rules; lowering against a bare parse.
//   node bench/policy.mjs          (bundles src/policy with esbuild first, so that no loader is measured)
// Ratios within one run are what counts; machines are noisy.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = path.dirname(import.meta.dirname);
const folder = mkdtempSync(path.join(tmpdir(), 'tw-bench-'));
const outfile = path.join(folder, 'policy.mjs');
await build({
  stdin: { contents: "export * from './src/policy/index.js'; export { parse } from 'unbash';", resolveDir: root },
  bundle: true,
  format: 'esm',
  platform: 'neutral',
  mainFields: ['module', 'main'],
  outfile,
  logLevel: 'error',
});
const { parseRules, createPolicy, decideRequirement, lowerCommand, parse } = await import(pathToFileURL(outfile).href);
rmSync(folder, { recursive: true });

const SCRIPTS = {
  'literal argv': ['git', 'status', '-s'],
  'plain script': ['/bin/bash', '-lc', 'git status -s && npm run build | tail -n 5'],
  'rich script': [
    '/bin/bash',
    '-lc',
    'for f in *.ts; do if [ -f "$f" ]; then grep -n "$(cat pattern)" "$f" 2>/dev/null; fi; done',
  ],
};
const sandbox = {
  mode: 'workspace-write',
  writableRoots: ['/work'],
  excludeSlashTmp: false,
  excludeTmpdirEnvVar: false,
  readOnly: [],
  denyRead: [],
  git: 'read-only',
  network: { kind: 'off' },
  unixSockets: 'deny',
  landlockFallback: false,
};
const input = (policy, argv) => ({ policy, argv, cwd: '/work', approvalPolicy: 'on-request', sandbox });
const micro = (ms, count) => `${((ms * 1000) / count).toFixed(2)} µs`;
const timed = (run) => {
  const start = performance.now();
  run();
  return performance.now() - start;
};

for (const count of [10, 1_000, 10_000]) {
  const text = Array.from(
    { length: count },
    (_, i) => `prefix_rule(pattern=["program${i % 997}", "sub${i}"], decision="${i % 3 ? 'allow' : 'prompt'}")\n`,
  ).join('');
  let policy;
  const load = timed(() => {
    policy = createPolicy([parseRules(text)]);
  });
  console.log(`${String(count).padStart(6)} rules: load ${load.toFixed(1)} ms`);
  for (const [name, argv] of Object.entries(SCRIPTS)) {
    const cold = timed(() => decideRequirement(input(policy, argv)));
    for (let i = 0; i < 5_000; i++) decideRequirement(input(policy, argv));
    const each = Array.from({ length: 20_000 }, () => timed(() => decideRequirement(input(policy, argv)))).sort(
      (a, b) => a - b,
    );
    const sum = each.reduce((all, next) => all + next, 0);
    const at = (share) => micro(each[Math.floor(each.length * share)], 1);
    console.log(
      `        ${name.padEnd(13)} first ${micro(cold, 1)}, then median ${at(0.5)}, p99 ${at(0.99)}, ${Math.round(each.length / (sum / 1000)).toLocaleString('en')} per second`,
    );
  }
}

console.log('lowering against a bare parse (median of interleaved runs)');
for (const [name, argv] of Object.entries(SCRIPTS).slice(1)) {
  const script = argv[2];
  const runs = { parse: [], lower: [] };
  for (let i = 0; i < 20_000; i++) {
    runs.parse.push(timed(() => parse(script)));
    runs.lower.push(timed(() => lowerCommand(argv, { cwd: '/work' })));
  }
  const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
  const [bare, lower] = [median(runs.parse), median(runs.lower)];
  console.log(
    `        ${name.padEnd(13)} parse ${micro(bare, 1)}, lower ${micro(lower, 1)}, ratio ${(lower / bare).toFixed(2)}`,
  );
}
const big = `echo ${'x'.repeat(60)} && (cat a 2>/dev/null | wc -l); `.repeat(20);
console.log(
  `        ${big.length} byte script: ${micro(
    timed(() => lowerCommand(['bash', '-c', big], { cwd: '/' })),
    1,
  )} to lower`,
);

#!/usr/bin/env node
// What a sandboxed command costs. All variants interleaved in one process; only the ratios mean anything.
// node bench/sandbox.mjs [--n 60] [--json]
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const { values } = parseArgs({
  options: { n: { type: 'string', default: '60' }, json: { type: 'boolean', default: false } },
});
const runs = Number(values.n);
const base = mkdtempSync('/var/tmp/tw-bench-');
const bundle = join(import.meta.dirname, `../node_modules/.bench-sandbox-${process.pid}.mjs`);
await build({
  stdin: {
    contents: `export * from '../src/sandbox/index.ts'; export { spawnProcess } from '../src/process/index.ts';`,
    resolveDir: import.meta.dirname,
  },
  outfile: bundle,
  bundle: true,
  platform: 'node',
  format: 'esm',
  external: ['koffi', '@lydell/node-pty'],
  logLevel: 'error',
});
const { createSandbox, spawnProcess } = await import(bundle);

const options = { stateDir: join(base, 'state') };
const root = mkdtempSync(join(base, 'ws-'));
const box = async (policy, extra = {}) => await createSandbox(policy, { ...options, ...extra });
const writing = { mode: 'workspace-write', writableRoots: [root] };
const proxied = { kind: 'proxied', allow: ['example.com'], deny: [], mode: 'full' };
const boxes = {
  'ours, read-only': await box({ mode: 'read-only' }),
  'ours, workspace-write': await box(writing),
  'ours, joining a session network': await box({ ...writing, network: proxied }),
  landlock: await box({ mode: 'read-only' }, { searchPath: base }).catch(() => undefined),
};
const handWritten = [
  'bwrap',
  '--unshare-user',
  '--unshare-pid',
  '--unshare-ipc',
  '--unshare-uts',
  '--unshare-net',
  '--die-with-parent',
  '--new-session',
  '--cap-drop',
  'ALL',
  '--ro-bind',
  '/',
  '/',
  '--dev',
  '/dev',
  '--bind',
  root,
  root,
  '--proc',
  '/proc',
  '--chdir',
  root,
  '--',
  '/bin/true',
];
const env = { PATH: process.env.PATH };
const plain = (argv) => async () => (await spawnProcess(argv, { cwd: root, env, tty: false })).exited;
const variants = {
  'plain spawn': plain(['/bin/true']),
  'bwrap by hand': plain(handWritten),
  ...Object.fromEntries(
    Object.entries(boxes)
      .filter(([, opened]) => opened !== undefined)
      .map(([name, opened]) => [name, async () => (await opened.spawn(['/bin/true'], { cwd: root, env })).exited]),
  ),
};

const wall = Object.fromEntries(Object.keys(variants).map((name) => [name, []]));
const cpu = structuredClone(wall);
for (let run = -3; run < runs; run++) {
  for (const [name, start] of Object.entries(variants)) {
    const before = process.cpuUsage();
    const from = performance.now();
    await start();
    const took = performance.now() - from;
    const { user, system } = process.cpuUsage(before);
    if (run < 0) continue;
    wall[name].push(took);
    cpu[name].push((user + system) / 1000);
  }
}
for (const opened of Object.values(boxes)) await opened?.close();
rmSync(base, { recursive: true, force: true });
rmSync(bundle, { force: true });

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
const rows = Object.keys(variants).map((name) => ({
  name,
  ms: median(wall[name]),
  ownCpuMs: median(cpu[name]),
  timesPlain: median(wall[name]) / median(wall['plain spawn']),
  timesBwrap: median(wall[name]) / median(wall['bwrap by hand']),
}));
if (values.json) console.log(JSON.stringify({ runs, rows }, null, 2));
else {
  console.log(`${'variant'.padEnd(34)}   ms  own CPU  × plain  × bwrap   (medians of ${runs})`);
  for (const { name, ms, ownCpuMs, timesPlain, timesBwrap } of rows) {
    console.log(
      `${name.padEnd(34)} ${ms.toFixed(1).padStart(5)} ${ownCpuMs.toFixed(1).padStart(8)} ${timesPlain.toFixed(2).padStart(8)} ${timesBwrap.toFixed(2).padStart(8)}`,
    );
  }
}

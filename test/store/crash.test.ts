/** A writer killed at any moment leaves a thread that loads and goes on. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock, uuidV7 } from '../../src/lib/index.js';
import type { Stored } from '../../src/protocol/index.js';
import { createJsonlStore } from '../../src/store/index.js';

let folder: string;
let script: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tw-crash-'));
  script = path.join(folder, 'writer.mjs');
  const source = path.join(folder, 'writer.ts');
  const door = (name: string) => JSON.stringify(path.resolve(`src/${name}/index.ts`));
  writeFileSync(
    source,
    `import { systemClock } from ${door('lib')};
     import { createJsonlStore } from ${door('store')};
     const [home, id, from] = process.argv.slice(2);
     const store = createJsonlStore({ home, clock: systemClock });
     for (let seq = Number(from); ; seq += 2) {
       await store.append(id, seq, [{ type: 'warning', message: 'x'.repeat(seq % 5000) }, { type: 'warning', message: String(seq) }]);
       process.stdout.write(seq + 2 + '\\n');
     }`,
  );
  await build({
    entryPoints: [source],
    outfile: script,
    bundle: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'error',
  });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Kills the writer once it has acknowledged `count` records, and says which it acknowledged last. */
async function writeAndKill(home: string, id: string, from: number, count: number): Promise<number> {
  const child: ChildProcess = spawn(process.execPath, [script, home, id, String(from)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = once(child, 'exit');
  let acknowledged = from;
  for await (const line of createInterface({ input: child.stdout! })) {
    acknowledged = Number(line);
    if (acknowledged >= from + count) child.kill('SIGKILL');
  }
  await gone;
  return acknowledged;
}

test('kill -9 at random moments: every acknowledged record is there, and the next writer goes on', async () => {
  const home = path.join(folder, 'home');
  const id = uuidV7(Date.now());
  let last = 0;
  for (const count of [1, 40, 7, 400]) {
    const acknowledged = await writeAndKill(home, id, last, count);
    const records: Stored[] = [];
    for await (const stored of createJsonlStore({ home, clock: systemClock }).load(id)) records.push(stored);
    expect(records.map((stored) => stored.seq)).toEqual(records.map((_, i) => i + 1));
    expect(records.length).toBeGreaterThanOrEqual(acknowledged);
    last = records.length;
  }
});

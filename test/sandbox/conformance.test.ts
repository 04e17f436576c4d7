/** The recorded cases, each run by the launcher as a process of its own. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';
import { openMachine } from '../../src/sandbox/index.js';
import { freshFolder, removeFolder } from './box.js';
import { startServices } from './host-services.js';

interface Case {
  readonly id: string;
  readonly tag: string;
  readonly policy: Readonly<Record<string, unknown>>;
  readonly requires?: readonly string[];
  readonly setup: readonly {
    readonly path: string;
    readonly text?: string;
    readonly mode?: number;
    readonly symlink?: string;
  }[];
  readonly setup_sh?: string;
  readonly command: string;
  readonly cwd?: string;
  readonly ws_name?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly extra_fd?: string;
  readonly parallel?: number;
  readonly kill_after_ms?: number;
  readonly check: Check;
}

interface Check {
  readonly exit?: number | 'nonzero';
  readonly stdout_has?: string | readonly string[];
  readonly stdout_lacks?: string | readonly string[];
  readonly stdout_bytes?: number;
  readonly absent?: readonly string[];
  readonly exists?: readonly string[];
  readonly unchanged?: readonly string[];
  readonly untouched?: string;
  readonly touched?: string;
  readonly victim_alive?: true;
  readonly max_ms?: number;
  readonly wait_ms?: number;
  readonly after_sh?: string;
}

const base = freshFolder();
const tmp = mkdtempSync('/tmp/sbx-conf-');
const cases = readFileSync(join(import.meta.dirname, '../conformance/sandbox/cases.jsonl'), 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line) as Case);
const { tier } = await openMachine();
const launcher = join(base, 'launcher.mjs');
await build({
  entryPoints: [join(import.meta.dirname, 'launcher.ts')],
  outfile: launcher,
  bundle: true,
  platform: 'node',
  format: 'esm',
  external: ['koffi', '@lydell/node-pty'],
  logLevel: 'error',
});
const services = await startServices(base, tmp);
afterAll(async () => {
  await services.close();
  removeFolder(base);
  removeFolder(tmp);
});

const loopbackName = readFileSync('/etc/hosts', 'utf8')
  .split('\n')
  .map((line) => line.replace(/#.*/, '').trim().split(/\s+/))
  .filter(([address = '']) => address.startsWith('127.'))
  .flatMap(([, ...names]) => names)
  .find((name) => name !== '' && !name.startsWith('localhost'));

function has(tool: string): boolean {
  if (tool === 'root') return process.getuid?.() === 0;
  if (tool === 'loopname') return loopbackName !== undefined;
  return spawnSync('/bin/sh', ['-c', `command -v ${tool}`]).status === 0;
}

describe.skipIf(tier !== 'bwrap')('the recorded sandbox cases', () => {
  for (const one of cases) {
    it.skipIf(!(one.requires ?? []).every(has))(`${one.tag}: ${one.id}`, async () => await runCase(one));
  }
});

async function runCase(one: Case): Promise<void> {
  const place = prepare(one);
  const { check } = one;
  if (check.untouched === 'wsunix') await services.listenAt(join(place.vars['W']!, 'ws.sock'), 'wsunix');
  const before = new Map((check.unchanged ?? []).map((path) => [place.fill(path), fingerprint(place.fill(path))]));
  const hitsBefore = { untouched: services.hits(check.untouched ?? ''), touched: services.hits(check.touched ?? '') };
  const runs = await Promise.all(Array.from({ length: one.parallel ?? 1 }, () => launch(one, place)));
  // What a survivor would do later is the very thing to see; and a datagram takes a moment to arrive.
  await new Promise((resolve) => setTimeout(resolve, check.wait_ms ?? 30));
  const output = runs.map((run) => run.stdout).join('');
  const told = `${output.slice(0, 2000)}\n${runs[0]!.stderr.slice(0, 2000)}`;
  for (const { code } of runs) {
    if (check.exit === 'nonzero') expect(code, told).not.toBe(0);
    else if (check.exit !== undefined) expect(code, told).toBe(check.exit);
  }
  for (const text of [check.stdout_has ?? []].flat()) expect(output, told).toContain(text);
  for (const text of [check.stdout_lacks ?? []].flat()) expect(output, told).not.toContain(text);
  if (check.stdout_bytes !== undefined) expect(runs[0]!.bytes).toBe(check.stdout_bytes);
  for (const path of check.absent ?? []) expect(fingerprint(place.fill(path)), path).toBe('missing');
  for (const path of check.exists ?? []) expect(fingerprint(place.fill(path)), path).not.toBe('missing');
  for (const [path, old] of before) expect(fingerprint(path), path).toBe(old);
  if (check.untouched) expect(services.hits(check.untouched)).toBe(hitsBefore.untouched);
  if (check.touched) expect(services.hits(check.touched)).toBeGreaterThan(hitsBefore.touched);
  if (check.victim_alive) expect(process.kill(services.victim.pid!, 0)).toBe(true);
  if (check.max_ms !== undefined) expect(runs[0]!.ms).toBeLessThanOrEqual(check.max_ms);
  if (check.after_sh) {
    const after = spawnSync('/bin/sh', ['-c', check.after_sh], { env: place.env, cwd: place.vars['B'] });
    expect(after.status, check.after_sh).toBe(0);
  }
}

interface Place {
  readonly vars: Readonly<Record<string, string>>;
  readonly env: NodeJS.ProcessEnv;
  readonly policyFile: string;
  readonly cwd: string;
  fill(text: string): string;
}

function prepare(one: Case): Place {
  const B = join(base, one.id);
  const folders = {
    W: join(B, one.ws_name ?? 'ws'),
    O: join(B, 'out'),
    X: join(B, 'extra'),
    HOMEDIR: join(B, 'home'),
    T: join(tmp, one.id),
  };
  for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true });
  const vars: Record<string, string> = {
    ...services.vars,
    ...folders,
    B,
    S: join(B, 'secret'),
    S2: join(B, 'secret-link'),
    CASE: one.id,
    LOOP_NAME: loopbackName ?? 'none.invalid',
  };
  const fill = (text: string): string =>
    text.replace(/\$([A-Z][A-Z0-9_]*)\b/g, (all, name: string) => vars[name] ?? all);
  for (const item of one.setup) {
    const path = fill(item.path);
    mkdirSync(dirname(path), { recursive: true });
    if (item.symlink !== undefined) symlinkSync(fill(item.symlink), path);
    else writeFileSync(path, item.text ?? '', { mode: item.mode ?? 0o644 });
  }
  const env = { ...process.env, ...vars, ...one.env };
  if (one.setup_sh) expect(spawnSync('/bin/sh', ['-ec', one.setup_sh], { env, cwd: B }).status).toBe(0);
  const policyFile = join(B, 'policy.json');
  writeFileSync(policyFile, fill(JSON.stringify(one.policy)));
  return { vars, env, policyFile, fill, cwd: one.cwd === undefined ? folders.W : fill(one.cwd) };
}

interface Launched {
  readonly code: number;
  readonly ms: number;
  readonly stdout: string;
  readonly bytes: number;
  readonly stderr: string;
}

function launch(one: Case, place: Place): Promise<Launched> {
  const words = [launcher, '--policy', place.policyFile, '--cwd', place.cwd, '--', '/bin/sh', '-c', one.command];
  const extra = one.extra_fd === undefined ? undefined : openSync(place.fill(one.extra_fd), 'a');
  const inherited = extra === undefined ? [] : [...Array.from({ length: 6 }, () => 'ignore' as const), extra];
  const started = performance.now();
  const child: ChildProcess = spawn(process.execPath, words, {
    cwd: place.cwd,
    env: place.env,
    stdio: [one.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', ...inherited],
    detached: true,
  });
  if (extra !== undefined) closeSync(extra);
  child.stdin?.end(one.stdin);
  if (one.kill_after_ms !== undefined) setTimeout(() => child.kill('SIGKILL'), one.kill_after_ms);
  const out: Buffer[] = [];
  let stderr = '';
  child.stdout!.on('data', (bytes: Buffer) => out.push(bytes));
  child.stderr!.on('data', (bytes: Buffer) => (stderr += bytes.toString()));
  return new Promise((resolve) => {
    const event = one.kill_after_ms === undefined ? 'close' : 'exit';
    child.on(event, (code, signal) => {
      const stdout = Buffer.concat(out);
      const status = signal === null ? (code ?? 1) : 128 + constants.signals[signal as NodeJS.Signals];
      resolve({
        code: status,
        ms: performance.now() - started,
        stdout: stdout.toString(),
        bytes: stdout.length,
        stderr,
      });
    });
  });
}

/** Kind, mode and contents. */
function fingerprint(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return 'missing';
  if (found.isSymbolicLink()) return `link ${readlinkSync(path)} ${existsSync(path)}`;
  if (found.isDirectory()) return 'dir';
  return `file ${found.mode & 0o777} ${createHash('sha1').update(readFileSync(path)).digest('hex')}`;
}

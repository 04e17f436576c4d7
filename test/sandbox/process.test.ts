/** Signals, terminals, descriptors, denials: a sandboxed command as the rest of the program sees it. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import {
  type Box,
  createSandbox,
  createSandboxBackend,
  detectDenial,
  type SandboxedProcess,
} from '../../src/sandbox/index.js';
import { freshFolder, openBox, removeFolder, runIn } from './box.js';

const base = freshFolder();
const state = join(base, 'state');
const root = join(base, 'ws');
mkdirSync(root);
const box = await openBox(root, {}, state);
const real = it.skipIf(box.tier !== 'bwrap');
const open: Box[] = [];
afterEach(async () => {
  for (const other of open.splice(0)) await other.close();
});
afterAll(async () => {
  await box.close();
  removeFolder(base);
});

const ENV = { PATH: process.env['PATH'] ?? '' };

/** Resolves when the output contains `text`. */
function says(running: SandboxedProcess, text: string): Promise<string> {
  let output = '';
  return new Promise((resolve) =>
    running.onOutput((bytes) => {
      output += bytes.toString();
      if (output.includes(text)) resolve(output);
    }),
  );
}

function marked(mark: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`MARK=${mark}\0`);
    } catch {
      return false;
    }
  });
}

describe('ending a command', () => {
  real('lets it finish on SIGTERM, and takes its children with it', async () => {
    const env = { ...ENV, MARK: `${base}-term` };
    const script = 'sleep 600 & setsid sleep 600 & trap "echo bye; exit 5" TERM; echo up; while :; do sleep 0.05; done';
    const running = await box.spawn(['/bin/sh', '-c', script], { env });
    await says(running, 'up');
    await running.terminate(20_000);
    expect(await running.exited).toEqual({ code: 5, signal: null });
    expect(marked(env.MARK)).toEqual([]);
  });

  real('kills what does not listen', async () => {
    const env = { ...ENV, MARK: `${base}-kill` };
    const running = await box.spawn(['/bin/sh', '-c', 'trap "" TERM; echo up; while :; do sleep 1; done'], { env });
    await says(running, 'up');
    await running.terminate(100);
    expect(await running.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(marked(env.MARK)).toEqual([]);
  });

  real('an aborted signal starts nothing', async () => {
    const aborted = AbortSignal.abort(new Error('stop'));
    await expect(box.spawn(['/bin/sh', '-c', 'echo x > started'], {}, aborted)).rejects.toThrow('stop');
    expect(existsSync(join(root, 'started'))).toBe(false);
  });

  it('a program or folder that does not exist is an error of the call', async () => {
    await expect(box.spawn(['no-such-program'], { env: ENV })).rejects.toMatchObject({
      code: 'ENOENT',
      path: 'no-such-program',
    });
    await expect(box.spawn(['true'], { cwd: '/no/such', env: ENV })).rejects.toMatchObject({
      code: 'ENOENT',
      path: '/no/such',
    });
  });
});

describe('a terminal', () => {
  real('has a size and job control, and Ctrl-C reaches the command', async () => {
    const script = 'tty; stty size; trap "echo caught; exit 7" INT; echo ready; while :; do sleep 0.05; done';
    const running = await box.spawn(['/bin/sh', '-c', script], { tty: true, env: ENV });
    const output = await says(running, 'ready');
    expect(output).toContain('24 80');
    const caught = says(running, 'caught');
    await running.write('\u0003');
    await caught;
    expect(await running.exited).toEqual({ code: 7, signal: null });
  });

  real('is sandboxed like the rest', async () => {
    const outside = join(base, 'outside');
    const running = await box.spawn(['/bin/sh', '-c', `echo x > ${outside}`], { tty: true, env: ENV });
    await says(running, 'Read-only file system');
    expect((await running.exited).code).not.toBe(0);
    expect(existsSync(outside)).toBe(false);
  });
});

describe('descriptors', () => {
  real('come back to where they were after 200 commands, half of them on terminals', async () => {
    const count = (): number => readdirSync('/proc/self/fd').length;
    const runOne = async (index: number): Promise<void> => {
      const running = await box.spawn(['/bin/true'], { tty: index % 2 === 1, env: ENV });
      await running.exited;
    };
    for (let index = 0; index < 20; index++) await runOne(index);
    const before = count();
    for (let index = 0; index < 200; index++) await runOne(index);
    expect(count()).toBeLessThanOrEqual(before + 2);
  });

  real('of this process do not reach the command', async () => {
    const { output } = await runIn(box, 'ls /proc/self/fd | tr "\\n" " "');
    expect(
      output
        .trim()
        .split(' ')
        .map(Number)
        .filter((fd) => fd > 3),
    ).toEqual([]);
  });
});

describe('many policies at once', () => {
  real('each command has its own', async () => {
    const other = join(base, 'other');
    mkdirSync(other, { recursive: true });
    const second = await openBox(other, {}, state);
    const reading = await createSandbox({ mode: 'read-only' }, { stateDir: state });
    open.push(second, reading);
    const script = `echo x > ${root}/one; echo x > ${other}/two; true`;
    await Promise.all([runIn(box, script), runIn(second, script), runIn(reading, script)]);
    for (const one of [box, second]) await one.close();
    expect([readdirSync(root), readdirSync(other)]).toEqual([['one'], ['two']]);
  });
});

describe('what the sandbox refused', () => {
  real('is told from an ordinary failure', async () => {
    const ask = async (script: string) => {
      const { code, signal, output } = await runIn(box, script);
      return detectDenial({ exitCode: code, signal, output, policy: box.policy, cwd: root });
    };
    expect(await ask(`touch ${base}/x`)).toMatchObject({
      certainty: 'certain',
      what: 'fs-write',
      path: join(base, 'x'),
    });
    expect(await ask('mkdir .git/hooks')).toMatchObject({
      path: join(root, '.git/hooks'),
      evidence: expect.stringContaining('sandbox.git'),
    });
    expect(await ask('echo "x: Read-only file system"; exit 0')).toBeUndefined();
    expect(await ask('cat nothing-here')).toBeUndefined();
  });
});

describe('a bubblewrap that cannot start', () => {
  const ROWS = [
    ['bwrap: setting up uid map: Permission denied', 'userns'],
    ['bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted', 'network'],
  ] as const;

  it.each(ROWS)('%s: falls back where Landlock suffices, else says why', async (message, cause) => {
    const bin = join(base, `bin-${cause}`);
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, 'bwrap'), `#!/bin/sh\necho "${message}" >&2\nexit 1\n`);
    chmodSync(join(bin, 'bwrap'), 0o755);
    const notices: string[] = [];
    const backend = await createSandboxBackend({
      stateDir: state,
      searchPath: bin,
      onNotice: (text) => notices.push(text),
    });
    const policy = { ...box.policy, mode: 'read-only', writableRoots: [] } as const;
    const run = { cwd: root, env: ENV, tty: false };
    const signal = new AbortController().signal;
    await expect(
      backend.spawn(['true'], { ...run, policy: { ...policy, denyRead: ['/etc/shadow'] } }, signal),
    ).rejects.toMatchObject({ code: 'TW_SANDBOX_UNAVAILABLE', facts: { cause } });
    if (box.tier === 'bwrap') {
      for (let time = 0; time < 2; time++) {
        const running = await backend.spawn(['/bin/sh', '-c', 'echo x > made; echo done'], { ...run, policy }, signal);
        let output = '';
        running.onOutput((bytes) => (output += bytes.toString()));
        await running.exited;
        expect(output).toContain('done');
      }
      expect(notices.filter((text) => text.includes('Landlock'))).toHaveLength(1);
      expect(existsSync(join(root, 'made'))).toBe(false);
    }
    await backend.close();
  });
});

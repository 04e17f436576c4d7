import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { killAllProcesses, spawnProcess } from '../../src/process/index.js';
import { ENV, printed, run, start } from './run.js';

// What a test leaves running on purpose ends with its file: the runner kills its workers without their exit handlers.
afterAll(killAllProcesses);

const hasProc = process.platform === 'linux';

describe('output', () => {
  test('stdout and stderr keep the order in which they were written', async () => {
    const script = 'i=0; while [ $i -lt 200 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done';
    const lines = Array.from({ length: 200 }, (_, n) => `out ${n}\nerr ${n}\n`).join('');
    expect((await run(script)).output.text).toBe(lines);
  });

  test('/dev/stdout and /dev/stderr can be opened, as on a pipe', async () => {
    const { output } = await run('echo one > /dev/stdout; echo two > /dev/stderr');
    expect(output.text).toBe('one\ntwo\n');
  });

  test('all of it arrives, also what was written right before the end', async () => {
    const { output } = await run('seq 1 60000');
    expect(output).toMatchObject({ lines: 60000, bytes: 348_894 });
  });

  test('stdin is empty and closed', async () => {
    expect((await run('cat; echo end')).output.text).toBe('end\n');
  });

  test('an open stdin takes what is written', async () => {
    const running = await start('read line; echo "got $line"', { stdin: 'pipe' });
    const answer = printed(running, 'got');
    await running.write('hello\n');
    expect(await answer).toBe('got hello\n');
    await running.exited;
  });

  test('500 MB: head, tail and the count stay, memory does not grow with it', async () => {
    await run('true');
    const before = process.memoryUsage().rss;
    let peak = before;
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 10);
    const { output } = await run("echo HEAD; head -c 500M /dev/zero | tr '\\0' x; echo; echo TAIL");
    clearInterval(watch);
    expect(output.bytes).toBe(500 * 1024 * 1024 + 11);
    expect(output.lines).toBe(3);
    expect(output.text.startsWith('HEAD\nxxx')).toBe(true);
    expect(output.text.endsWith('xxx\nTAIL\n')).toBe(true);
    expect(peak - before).toBeLessThan(64 * 1024 * 1024);
  });
});

describe.runIf(hasProc)('the pipe of a command', () => {
  const inode = 'stat -L -c %i /dev/stdout';

  test('is used again once nobody holds it', async () => {
    expect((await run(inode)).output.text).toBe((await run(inode)).output.text);
  });

  test('is not used again while something of the command may still read it', async () => {
    const left = await start(
      `${inode}; setsid sh -c 'exec 3</dev/stdout; echo; exec sleep 600 >/dev/null 2>&1' & read line`,
      {
        stdin: 'pipe',
      },
    );
    const first = await printed(left, '\n\n');
    await left.write('\n');
    await left.exited;
    expect((await run(inode)).output.text).not.toBe(`${first.trimEnd()}\n`);
    await left.terminate();
  });
});

describe('end', () => {
  test.each([
    ['an exit status', 'exit 7', { code: 7, signal: null }],
    ['a signal', 'kill -TERM $$', { code: null, signal: 'SIGTERM' }],
  ])('%s', async (_name, script, exit) => {
    expect((await run(script)).exit).toEqual(exit);
  });

  test('a background child that holds the output open is not waited for', async () => {
    const { output } = await run('sleep 600 & echo done');
    expect(output.text).toBe('done\n');
  });
});

describe('failure to start', () => {
  test.each([
    ['a missing program', ['/no/such/program'], tmpdir(), { code: 'ENOENT', syscall: 'spawn' }],
    ['a missing program on the path', ['no-such-program'], tmpdir(), { code: 'ENOENT', syscall: 'spawn' }],
    ['a missing directory', ['/bin/sh'], '/no/such/dir', { code: 'ENOENT', syscall: 'chdir' }],
    ['a directory that is a file', ['/bin/sh'], '/bin/sh', { code: 'ENOTDIR', syscall: 'chdir' }],
  ])('%s', async (_name, argv, cwd, expected) => {
    for (const tty of [false, true])
      await expect(spawnProcess(argv, { cwd, env: ENV, tty })).rejects.toMatchObject(expected);
  });

  test('a file that is no program', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'spawn-'));
    writeFileSync(join(dir, 'text'), 'no program', { mode: 0o644 });
    const expected = { code: 'EACCES', syscall: 'spawn' };
    await expect(spawnProcess([join(dir, 'text')], { cwd: dir, env: ENV, tty: false })).rejects.toMatchObject(expected);
    rmSync(dir, { recursive: true });
  });
});

describe('terminal', () => {
  test('is 24 by 80, is one, and joins carriage returns to line ends', async () => {
    const { output } = await run('stty size; test -t 0 && test -t 1 && test -t 2 && echo terminal', { tty: true });
    expect(output.text).toBe('24 80\r\nterminal\r\n');
  });

  test('echoes what is typed', async () => {
    const running = await start('read line; echo "got $line"', { tty: true });
    const answer = printed(running, 'got');
    await running.write('hello\n');
    expect(await answer).toContain('hello\r\ngot hello');
    expect(await running.exited).toEqual({ code: 0, signal: null });
  });

  test('Ctrl-C interrupts the program in front', async () => {
    // A program that has answered is past the moment in which its shell would take the signal for itself.
    const running = await start('exec cat', { tty: true });
    const answer = printed(running, 'hello\r\nhello');
    await running.write('hello\n');
    await answer;
    await running.write('\u0003');
    expect(await running.exited).toEqual({ code: null, signal: 'SIGINT' });
  });

  test.runIf(hasProc)('is not handed to other programs', async () => {
    const other = await start('echo ready; read line', { tty: true });
    await printed(other, 'ready');
    for (const tty of [false, true]) {
      const { output } = await run('ls -l /proc/$$/fd', { tty });
      expect(output.text).toContain('-> /');
      expect(output.text).not.toContain('ptmx');
    }
    await other.terminate();
  });
});

describe('extra descriptors', () => {
  test.each([false, true])('are 3 and up (terminal: %s)', async (tty) => {
    const dir = mkdtempSync(join(tmpdir(), 'spawn-'));
    writeFileSync(join(dir, 'text'), 'passed on\n');
    const fd = openSync(join(dir, 'text'), 'r');
    const running = await spawnProcess(['/bin/sh', '-c', 'cat <&3'], { cwd: dir, env: ENV, tty }, { fds: [fd] });
    expect(await printed(running, 'passed')).toContain('passed on');
    await running.exited;
    closeSync(fd);
    rmSync(dir, { recursive: true });
  });
});

test.runIf(hasProc).each([false, true])('200 commands leave no descriptor and no child (terminal: %s)', async (tty) => {
  await run('true', { tty });
  const before = { fds: openFds(), children: children() };
  for (let n = 0; n < 200; n++) await run('true', { tty });
  expect(Math.abs(openFds() - before.fds)).toBeLessThanOrEqual(2);
  expect(Math.abs(children() - before.children)).toBeLessThanOrEqual(2);
});

function openFds(): number {
  return readdirSync('/proc/self/fd').length;
}

function children(): number {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === process.pid).length;
}

function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

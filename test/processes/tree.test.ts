/** Nothing a command started outlives its end, wherever it went. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { killAllProcesses, MARK_VARIABLE, ProcessTable } from '../../src/process/index.js';
import { ENV, printed, start } from './run.js';

/** Processes whose environment holds the variable, which each test sets to a value of its own. */
function alive(test: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`TREE_TEST=${test}\0`);
    } catch {
      return false;
    }
  });
}

let count = 0;
const name = () => `${process.pid}-${++count}`;

describe.runIf(process.platform === 'linux')('terminate', () => {
  test.each([
    ['children', 'sleep 600 & echo ready; sleep 600'],
    ['a process that left the session', 'setsid sleep 600 & echo ready; sleep 600'],
    ['a daemon whose parents are gone', '(setsid sh -c "sleep 600 & sleep 600 &" &) ; echo ready; sleep 600'],
    [
      'processes that ignore SIGTERM',
      `trap '' TERM; setsid sh -c 'trap "" TERM; sleep 600; sleep 600' & echo ready; sleep 600`,
    ],
    ['a child that dropped its environment', 'env -i setsid sleep 600 & echo ready; sleep 600'],
  ])('ends %s', async (_name, script) => {
    for (const tty of [false, true]) {
      const test = name();
      const running = await start(script, { tty, env: { ...ENV, TREE_TEST: test } });
      await printed(running, 'ready');
      expect(alive(test).length).toBeGreaterThan(0);
      await running.terminate(100);
      expect(alive(test)).toEqual([]);
    }
  });

  test('frees the port of a server', async () => {
    const port = await freePort();
    const server = `require("net").createServer().listen(${port}, "127.0.0.1", () => console.log("ready"))`;
    const running = await start(`setsid node -e '${server}' & wait`);
    await printed(running, 'ready');
    expect(await canConnect(port)).toBe(true);
    await running.terminate();
    expect(await canConnect(port)).toBe(false);
  });

  test('of a command that is gone ends what it left behind', async () => {
    const test = name();
    const running = await start('sleep 600 & sleep 600 & echo ready', { env: { ...ENV, TREE_TEST: test } });
    await running.exited;
    expect(alive(test)).toHaveLength(2);
    await running.terminate();
    expect(alive(test)).toEqual([]);
  });
});

describe.runIf(process.platform === 'linux')('the end of a thread', () => {
  test('ends what finished commands left behind, and nothing of other threads', async () => {
    const [mine, theirs] = [name(), name()];
    const [table, other] = [new ProcessTable(), new ProcessTable()];
    const script = 'setsid sleep 600 & exit 0';
    const left = await start(script, { env: { ...ENV, TREE_TEST: mine, [MARK_VARIABLE]: table.nextMark() } });
    const kept = await start(script, { env: { ...ENV, TREE_TEST: theirs, [MARK_VARIABLE]: other.nextMark() } });
    await Promise.all([left.exited, kept.exited]);
    await table[Symbol.asyncDispose]();
    expect([alive(mine).length, alive(theirs).length]).toEqual([0, 1]);
    await other[Symbol.asyncDispose]();
    expect(alive(theirs)).toEqual([]);
  });

  test('a mark of another program is not taken over', async () => {
    const test = name();
    const running = await start('echo ready; sleep 600', {
      env: { ...ENV, TREE_TEST: test, [MARK_VARIABLE]: 'foreign.1.' },
    });
    await printed(running, 'ready');
    const environ = readFileSync(`/proc/${running.pid}/environ`, 'latin1');
    expect(environ).not.toContain('foreign');
    await running.terminate();
  });

  test.each(['exit', 'signal'])('the end of the host by %s leaves nothing', async (how) => {
    const test = name();
    const host = spawn(process.execPath, ['--import', 'tsx', join(import.meta.dirname, 'host.ts')], {
      env: { ...ENV, TREE_TEST: test },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => host.stdout.once('data', resolve));
    expect(alive(test).length).toBeGreaterThanOrEqual(3);
    const ended = new Promise((resolve) => host.once('exit', resolve));
    if (how === 'exit') host.stdin.end();
    else host.kill('SIGTERM');
    await ended;
    await gone(test);
  });

  test('killAllProcesses leaves nothing', async () => {
    const test = name();
    const running = await start('setsid sleep 600 & echo ready; sleep 600', { env: { ...ENV, TREE_TEST: test } });
    await printed(running, 'ready');
    killAllProcesses();
    await running.exited;
    await gone(test);
  });
});

/** A kill is a request: the kernel carries it out a moment later. */
async function gone(test: string): Promise<void> {
  while (alive(test).length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

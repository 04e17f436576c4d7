/** Commands under the machine's own sandbox. Skipped, by name, where there is none. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { Interrupted } from '../../src/protocol/index.js';
import { createSandboxBackend } from '../../src/sandbox/index.js';
import { execHarness, normal } from './exec-harness.js';

const backend = await createSandboxBackend();
const works = backend.name === 'bwrap';

afterAll(async () => {
  await backend.close();
});

describe.runIf(works)('under bwrap', () => {
  test('a write in a read-only workspace is refused, and known as a denial', async () => {
    await using t = execHarness({ backend, mode: 'read-only' });
    const result = await t.call('exec_command', { cmd: 'echo x > here.txt' });
    if (result.kind !== 'sandboxDenied') throw new Error(`expected a denial, got ${result.text}`);
    expect(normal(result.outcome.text)).toBe(
      'Chunk ID: <CHUNK>\nWall time: <T> seconds\nProcess exited with code 1\nOriginal token count: 13\nOutput:\n/bin/bash: line 1: here.txt: Read-only file system\n',
    );
    expect(existsSync(join(t.cwd, 'here.txt'))).toBe(false);
  });

  test('a write in the workspace works', async () => {
    await using t = execHarness({ backend, mode: 'workspace-write' });
    expect(await t.exec({ cmd: 'echo x > here.txt; cat here.txt' })).toMatchObject({ kind: 'ok' });
    expect(readFileSync(join(t.cwd, 'here.txt'), 'utf8')).toBe('x\n');
  });

  test('a working directory elsewhere makes nothing writable', async () => {
    await using t = execHarness({ backend, mode: 'workspace-write' });
    const result = await t.call('exec_command', { cmd: 'echo x > turnwright-test', workdir: '/usr' });
    const outcome = result.kind === 'sandboxDenied' ? result.outcome : result;
    expect(outcome).toMatchObject({ kind: 'failed', exitCode: 1 });
    expect(existsSync('/usr/turnwright-test')).toBe(false);
  });

  test('the command is told that the network is off, and stderr keeps its place', async () => {
    await using t = execHarness({ backend, mode: 'workspace-write' });
    const { text } = await t.exec({ cmd: 'echo $CODEX_SANDBOX_NETWORK_DISABLED; echo b > /dev/stderr; echo c' });
    expect(text).toMatch(/Output:\n1\nb\nc\n$/);
  });

  test.each([false, true])('an interrupt ends everything inside (terminal: %s)', async (tty) => {
    await using t = execHarness({
      backend,
      mode: 'workspace-write',
      baseEnv: { PATH: '/usr/bin:/bin', MARK: `${process.pid}-${tty}` },
    });
    const stop = new AbortController();
    const running = t.exec(
      { cmd: 'setsid sleep 600 & echo ready; sleep 600', tty, yield_time_ms: 30_000 },
      stop.signal,
    );
    await t.delta((delta) => delta.type === 'command.output' && delta.text.includes('ready'));
    expect(alive(`MARK=${process.pid}-${tty}`)).toBeGreaterThan(0);
    stop.abort(new Interrupted('user'));
    expect(await running).toMatchObject({ kind: 'aborted', text: expect.stringContaining('Output so far:\nready') });
    expect(alive(`MARK=${process.pid}-${tty}`)).toBe(0);
  });

  test('Ctrl-C reaches a session without a terminal', async () => {
    await using t = execHarness({ backend, mode: 'workspace-write' });
    const first = await t.exec({ cmd: 'echo started; sleep 600; echo never', yield_time_ms: 1000 });
    const sessionId = Number(/session ID (\d+)/.exec(first.text)![1]);
    const ended = await t.stdin({ session_id: sessionId, chars: '\u0003', yield_time_ms: 30_000 });
    expect(ended).toMatchObject({ kind: 'failed', exitCode: 130 });
  });

  test('a terminal echoes, and Ctrl-C interrupts what runs in front', async () => {
    await using t = execHarness({ backend, mode: 'workspace-write' });
    const first = await t.exec({ cmd: 'stty size; read line; sleep 600', tty: true, yield_time_ms: 1000 });
    expect(first.text).toContain('24 80');
    const sessionId = Number(/session ID (\d+)/.exec(first.text)![1]);
    expect((await t.stdin({ session_id: sessionId, chars: 'typed\n' })).text).toContain('typed');
    expect(await t.stdin({ session_id: sessionId, chars: '\u0003', yield_time_ms: 30_000 })).toMatchObject({
      exitCode: 130,
    });
  });
});

test.skipIf(works)('no sandbox here: commands under a policy are refused', async () => {
  await using t = execHarness({ backend, mode: 'read-only' });
  await expect(t.call('exec_command', { cmd: 'true' })).rejects.toMatchObject({ code: 'TW_SANDBOX_UNAVAILABLE' });
});

function alive(variable: string): number {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`${variable}\0`);
    } catch {
      return false;
    }
  }).length;
}

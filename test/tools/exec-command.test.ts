import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { RedirectedCall } from '../../src/orchestrator/index.js';
import { Interrupted } from '../../src/protocol/index.js';
import { execHarness, normal } from './exec-harness.js';

const isOutput = (text: string) => (delta: { type: string; text?: string }) =>
  delta.type === 'command.output' && (delta.text ?? '').includes(text);

describe('a command that ends', () => {
  test('is told as recorded', async () => {
    await using t = execHarness();
    const outcome = await t.exec({ cmd: 'echo hi; echo err >&2' });
    expect(normal(outcome.text)).toBe(
      'Chunk ID: <CHUNK>\nWall time: <T> seconds\nProcess exited with code 0\nOriginal token count: 2\nOutput:\nhi\nerr\n',
    );
    expect(outcome).toMatchObject({
      kind: 'ok',
      report: { type: 'command', exitCode: 0, outputAt: outcome.text.indexOf('hi\n') },
    });
    expect(t.processes.size).toBe(0);
  });

  test('with another status has failed, in the same layout', async () => {
    await using t = execHarness();
    const outcome = await t.exec({ cmd: 'echo MARK-OUT; echo MARK-ERR >&2; exit 7' });
    expect(normal(outcome.text)).toBe(
      'Chunk ID: <CHUNK>\nWall time: <T> seconds\nProcess exited with code 7\nOriginal token count: 5\nOutput:\nMARK-OUT\nMARK-ERR\n',
    );
    expect(outcome).toMatchObject({ kind: 'failed', exitCode: 7, report: { exitCode: 7 } });
  });

  test('by a signal counts as in a shell', async () => {
    await using t = execHarness();
    expect(await t.exec({ cmd: 'kill -KILL $$' })).toMatchObject({ kind: 'failed', exitCode: 137 });
  });

  test('shows its output while it runs, all of it', async () => {
    await using t = execHarness();
    await t.exec({ cmd: 'seq 20000', max_output_tokens: 10 });
    const shown = t.deltas.map((delta) => (delta.type === 'command.output' ? delta.text : '')).join('');
    expect(shown).toBe(Array.from({ length: 20_000 }, (_, n) => `${n + 1}\n`).join(''));
  });

  test('runs in the directory it asks for', async () => {
    await using t = execHarness();
    expect((await t.exec({ cmd: 'mkdir sub; cd sub; pwd' })).text).toContain(`${t.cwd}/sub\n`);
    expect((await t.exec({ cmd: 'pwd', workdir: 'sub' })).text).toContain(`${t.cwd}/sub\n`);
  });
});

test.each([
  ['missing', '/no/such/dir', 'No such file or directory (os error 2)'],
  ['a file', '/bin/sh', 'Not a directory (os error 20)'],
])('a working directory that is %s: nothing ran', async (_name, workdir, reason) => {
  await using t = execHarness();
  const sentence = `Failed to create unified exec process: ${reason}`;
  expect(await t.exec({ cmd: 'ls', workdir })).toEqual({
    kind: 'failed',
    text: `exec_command failed: ${sentence}`,
    exitCode: -1,
    report: { type: 'command', exitCode: -1, durationMs: expect.any(Number), output: sentence },
  });
});

describe('long output', () => {
  test.each([
    ['many lines', 'echo HEAD; seq 400000; echo TAIL', 2_688_895 + 10, 400_002],
    ['one long line', "echo HEAD; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo TAIL", 3_000_011, 3],
  ])('%s: head and tail survive, the middle is counted', async (_name, cmd, bytes, lines) => {
    await using t = execHarness();
    const { text, report } = await t.exec({ cmd, max_output_tokens: 100 });
    const tokens = Math.ceil(bytes / 4);
    expect(text).toContain(`Original token count: ${tokens}\nDropped from the middle: `);
    expect(text).toContain(
      `Output:\nWarning: truncated output (original token count: ${tokens})\nTotal output lines: ${lines}\n\nHEAD\n`,
    );
    expect(text).toContain(`…${tokens - 100} tokens truncated…`);
    expect(text.endsWith('\nTAIL\n')).toBe(true);
    expect(report).toMatchObject({ output: expect.stringMatching(/^HEAD\n.* of output dropped here …\]\n.*TAIL\n$/s) });
  });

  test('the budget of the host is the most a model may ask for', async () => {
    await using t = execHarness({ maxOutputTokens: 50 });
    const { text } = await t.exec({ cmd: 'seq 1000', max_output_tokens: 5000 });
    expect(text).toContain(`…${Math.ceil(3893 / 4) - 50} tokens truncated…`);
  });

  test('is kept whole on disk on request', async () => {
    const dir = join(tmpdir(), `spill-${process.pid}`);
    await using t = execHarness({ spillDir: dir });
    const { text } = await t.exec({ cmd: 'seq 400000', max_output_tokens: 100 });
    const [file] = readdirSync(dir);
    expect(text).toContain(join(dir, file!));
    expect(readFileSync(join(dir, file!), 'utf8').split('\n')).toHaveLength(400_001);
    await (await import('node:fs/promises')).rm(dir, { recursive: true });
  });
});

describe('environment', () => {
  const baseEnv = {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    MY_SECRET_TOKEN: 'token-value-1',
    DEPLOY_KEY: 'deploy-value-2',
    ACME_LOGIN: 'provider-value-3',
    TERM: 'xterm',
  };

  test('holds the call and the fixed overlay, and no secret', async () => {
    await using t = execHarness({ baseEnv, providerKeyNames: ['ACME_LOGIN'], version: '9.9' });
    const { text } = await t.exec({ cmd: 'env' });
    for (const line of [
      'TERM=dumb',
      'NO_COLOR=1',
      'PAGER=cat',
      'COLORTERM=',
      'CODEX_TOOL_CALL_ID=c1',
      'TURNWRIGHT_VERSION=9.9',
    ])
      expect(text.split('\n')).toContain(line);
    expect(text).not.toMatch(/MY_SECRET_TOKEN|DEPLOY_KEY|ACME_LOGIN/);
    expect(text).not.toContain('CODEX_SANDBOX_NETWORK_DISABLED');
  });

  test('a secret found elsewhere is masked in what is shown and stored', async () => {
    await using t = execHarness({ baseEnv, providerKeyNames: ['ACME_LOGIN'] });
    const { text } = await t.exec({ cmd: 'printf "%s-%s\\n" token-value 1; echo provider-va""lue-3' });
    expect(text).toContain('Output:\n[secret]\n[secret]\n');
    expect(JSON.stringify(t.deltas)).not.toMatch(/token-value-1|provider-value-3/);
  });
});

describe('interrupt', () => {
  test('ends the tree and tells what was printed', async () => {
    await using t = execHarness();
    const stop = new AbortController();
    const running = t.exec({ cmd: 'setsid sleep 600 & echo "MARK $!"; sleep 600', yield_time_ms: 30_000 }, stop.signal);
    const shown = await t.delta(isOutput('MARK'));
    stop.abort(new Interrupted('user'));
    const outcome = await running;
    const output = shown.type === 'command.output' ? shown.text : '';
    expect(normal(outcome.text)).toBe(`Wall time: <T> seconds\naborted by user\nOutput so far:\n${output}`);
    expect(outcome).toMatchObject({ kind: 'aborted', report: { type: 'command', exitCode: null, output } });
    expect(existsSync(`/proc/${output.match(/\d+/)![0]}/exe`)).toBe(false);
  });

  test('before anything was printed', async () => {
    await using t = execHarness();
    const outcome = await t.exec({ cmd: 'echo never' }, AbortSignal.abort(new Interrupted('budget')));
    expect(normal(outcome.text)).toMatch(/^Wall time: <T> seconds\naborted \(budget\)/);
  });

  test('leaves a session that was handed over', async () => {
    await using t = execHarness();
    const started = await t.exec({ cmd: 'read line; echo "got $line"', tty: true, yield_time_ms: 250 });
    const sessionId = Number(/session ID (\d+)/.exec(started.text)![1]);
    const stop = new AbortController();
    const poll = t.stdin({ session_id: sessionId }, stop.signal);
    stop.abort(new Interrupted('user'));
    expect(await poll).toMatchObject({ kind: 'aborted' });
    expect((await t.stdin({ session_id: sessionId, chars: 'more\n', yield_time_ms: 30_000 })).text).toContain(
      'got more',
    );
  });
});

describe('session', () => {
  test('a command that takes longer goes on, and is asked for the rest', async () => {
    await using t = execHarness();
    const first = await t.exec({ cmd: 'echo one; read line; echo "two $line"', tty: true, yield_time_ms: 250 });
    expect(normal(first.text)).toBe(
      'Chunk ID: <CHUNK>\nWall time: <T> seconds\nProcess running with session ID <SESSION_ID>\nOriginal token count: 2\nOutput:\none\r\n',
    );
    const sessionId = Number(/session ID (\d+)/.exec(first.text)![1]);
    expect(first).toMatchObject({ kind: 'ok', report: { exitCode: null, sessionId } });
    const second = await t.stdin({ session_id: sessionId, chars: 'x\n', yield_time_ms: 30_000 });
    expect(normal(second.text)).toContain('Process exited with code 0\n');
    expect(second.text).toMatch(/Output:\nx\r\ntwo x\r\n$/);
    expect(await t.delta((delta) => delta.type === 'session.ended')).toEqual({
      type: 'session.ended',
      callId: 'c1',
      sessionId,
      exitCode: 0,
    });
    expect((await t.stdin({ session_id: sessionId })).text).toBe(`write_stdin failed: Unknown process id ${sessionId}`);
  });

  test('without a terminal takes no input, but a lone Ctrl-C', async () => {
    await using t = execHarness();
    const first = await t.exec({ cmd: 'echo started; sleep 600', yield_time_ms: 250 });
    const sessionId = Number(/session ID (\d+)/.exec(first.text)![1]);
    expect(await t.stdin({ session_id: sessionId, chars: 'x' })).toEqual({
      kind: 'failed',
      text: 'write_stdin failed: stdin is closed for this session; rerun exec_command with tty=true to keep stdin open',
    });
    const ended = await t.stdin({ session_id: sessionId, chars: '\u0003', yield_time_ms: 30_000 });
    expect(ended).toMatchObject({ kind: 'failed', exitCode: 130 });
    expect(ended.text).toMatch(/Output:\n$/);
  });

  test('that ended meanwhile still gives its last output, once', async () => {
    await using t = execHarness();
    const first = await t.exec({ cmd: `until [ -e go ]; do sleep 0.01; done; echo late; exit 3`, yield_time_ms: 250 });
    const sessionId = Number(/session ID (\d+)/.exec(first.text)![1]);
    await t.exec({ cmd: 'touch go' });
    await t.delta((delta) => delta.type === 'session.ended');
    const last = await t.stdin({ session_id: sessionId });
    expect(last).toMatchObject({ kind: 'failed', exitCode: 3 });
    expect(last.text).toContain('Output:\nlate\n');
    expect((await t.stdin({ session_id: sessionId })).text).toContain('Unknown process id');
  });

  test('ends with the thread', async () => {
    const t = execHarness();
    await t.exec({ cmd: 'sleep 600', yield_time_ms: 250 });
    await t[Symbol.asyncDispose]();
    expect(t.deltas.at(-1)).toMatchObject({ type: 'session.ended', exitCode: 143 });
  });
});

test('a script that is a patch is passed on as one', async () => {
  await using t = execHarness({
    interceptPatch: (script) => (script === 'patch' ? { patch: 'P', workdir: 'sub' } : undefined),
  });
  const redirected = await t.parse({ cmd: 'patch', workdir: 'dir' });
  expect(redirected).toBeInstanceOf(RedirectedCall);
  expect(redirected).toMatchObject({
    tool: 'apply_patch',
    payload: { kind: 'custom', input: 'P' },
    cwd: join(t.cwd, 'dir/sub'),
    outputPrefix: 'Wall time: 0.0000 seconds\nOutput:\n',
  });
  expect(await t.parse({ cmd: 'other' })).not.toBeInstanceOf(RedirectedCall);
});

describe('sandbox denial', () => {
  const denial = { certainty: 'likely', what: 'fs-write', evidence: 'no' } as const;

  test('within the call goes to the orchestrator with the ordinary outcome', async () => {
    await using t = execHarness({
      detectDenial: ({ exitCode, output }) => (exitCode === 9 && output === 'no\n' ? denial : undefined),
    });
    expect(await t.call('exec_command', { cmd: 'echo no; exit 9' })).toMatchObject({
      kind: 'sandboxDenied',
      denial,
      outcome: { kind: 'failed', exitCode: 9, report: { denial } },
    });
    expect(await t.call('exec_command', { cmd: 'echo no; exit 8' })).toMatchObject({ kind: 'failed' });
  });

  test('of a session is told to the model', async () => {
    await using t = execHarness({ detectDenial: () => denial });
    const first = await t.exec({ cmd: 'read line; exit 1', tty: true, yield_time_ms: 250 });
    const sessionId = Number(/session ID (\d+)/.exec(first.text)![1]);
    const last = await t.stdin({ session_id: sessionId, chars: '\n', yield_time_ms: 30_000 });
    expect(last.text).toMatch(
      /the sandbox blocked part of this command; ask to rerun it with escalation if that is needed$/,
    );
  });
});

/** However much commands print and however many there are: bounded memory, bounded descriptors, both ends of the text. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  answer,
  command,
  createPlace,
  execArgs,
  hostSession,
  outputs,
  type Place,
  PROGRAM,
  requireBuild,
  runProgram,
  serve,
  startProgram,
  step,
} from './support.js';

beforeAll(requireBuild);
let place: Place;
beforeEach(async () => {
  place = await createPlace();
});
afterEach(() => place[Symbol.asyncDispose]());

const full = ['-s', 'danger-full-access'];

describe('a flood of output keeps its head and its tail', () => {
  test.each([
    ['many lines', 'echo HEAD; seq 400000; echo TAIL'],
    ['one line of 3 MB', `printf HEAD; head -c 3000000 /dev/zero | tr '\\0' x; echo TAIL`],
  ])('%s', async (_name, script) => {
    await using server = await serve(step(command(script)), answer('ok'));
    expect((await runProgram(execArgs(server, ...full, 'go'), { place })).status).toBe(0);
    const [output = ''] = outputs(server, 1);
    expect(output).toContain('HEAD');
    expect(output.trimEnd()).toMatch(/TAIL$/);
    expect(output).toMatch(/\d+ tokens truncated/);
    expect(output.length).toBeLessThan(100_000);
  });

  test('500 MB: the whole program grows by less than 64 MB', async () => {
    const flood = `echo HEAD; head -c 500000000 /dev/zero | tr '\\0' x | fold -w 100; echo TAIL`;
    const peak = async (script: string) => {
      await using server = await serve(
        step(command(script)),
        step(command('cat /proc/$PPID/status', 'c2')),
        answer('ok'),
      );
      expect((await runProgram(execArgs(server, ...full, 'go'), { place })).status).toBe(0);
      const [flooded = '', status = ''] = outputs(server, 2);
      return { flooded, peakKb: Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) };
    };
    const quiet = await peak('echo HEAD');
    const loud = await peak(flood);
    expect(loud.flooded).toContain('HEAD');
    expect(loud.flooded.trimEnd()).toMatch(/TAIL$/);
    expect(loud.peakKb - quiet.peakKb).toBeLessThan(64 * 1024);
  });
});

test('200 short commands, on pipes and on terminals, leave no descriptor and no child behind', async () => {
  const rounds = Array.from({ length: 100 }, (_, i) =>
    step(command(`echo ${i}`, `p${i}`), command(`echo ${i}`, `t${i}`, { tty: true })),
  );
  await using server = await serve(step(command('true', 'warm')), ...rounds, answer('ok'));
  await using session = await hostSession(place, server);
  const thread = await session.start();
  const events = thread.events();
  await thread.submit([{ type: 'text', text: 'go' }]);
  let before: { fds: number; children: number } | undefined;
  for await (const event of events) {
    if (event.kind !== 'record') continue;
    const { record } = event.stored;
    if (record.type === 'item.completed' && record.item.type === 'toolOutput') before ??= open();
    if (record.type === 'turn.ended') break;
  }
  expect(server.requests).toHaveLength(102);
  const after = open();
  expect(after.fds - before!.fds).toBeLessThanOrEqual(2);
  expect(after.children - before!.children).toBeLessThanOrEqual(2);
});

function open() {
  const children = readdirSync('/proc/self/task').flatMap((task) => {
    try {
      return readFileSync(`/proc/self/task/${task}/children`, 'utf8').split(' ').filter(Boolean);
    } catch {
      return [];
    }
  });
  return { fds: readdirSync('/proc/self/fd').length, children: children.length };
}

describe('what the program itself prints', () => {
  test.each([
    ['the message', []],
    ['events', ['--json']],
  ])('%s to a full disk: one sentence, status 1', async (_name, options) => {
    await using server = await serve(answer('the answer'));
    const args = execArgs(server, ...options, 'go')
      .map((arg) => `'${arg}'`)
      .join(' ');
    const script = `exec '${process.execPath}' '${PROGRAM}' ${args} > /dev/full`;
    const run = await spawned(script);
    expect(run.status).toBe(1);
    expect(run.stderr).toMatch(/error: standard output cannot be written \(ENOSPC\).*\[TW_OUTPUT_FILE\]\n$/);
    expect(run.stderr).not.toMatch(/\bat .*node:/);
  });

  test('to a reader that leaves: no stack, and the commands end', async () => {
    await using server = await serve(step({ text: 'hello' }, command('sleep 600')));
    const program = startProgram(execArgs(server, '--json', ...full, 'go'), { place });
    await program.said('thread.started');
    program.child.stdout?.destroy();
    const run = await program.ended;
    expect(run.stderr).not.toMatch(/\bat .*node:/);
    expect(spawnSync('pgrep', ['-f', place.base]).stdout.toString()).toBe('');
  });
});

async function spawned(script: string): Promise<{ status: number | null; stderr: string }> {
  const child = spawn('/bin/sh', ['-c', script], {
    cwd: place.cwd,
    env: place.env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (bytes) => {
    stderr += bytes;
  });
  const [status] = await once(child, 'close');
  return { status, stderr };
}

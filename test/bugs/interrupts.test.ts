/** An interrupt ends everything that was started, at every stage, and loses nothing that was typed. */
import { mkdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  answer,
  command,
  createPlace,
  execArgs,
  hostSession,
  input,
  lines,
  outputs,
  type Place,
  processesOf,
  requireBuild,
  retryingArgs,
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

const full = ['--json', '-s', 'danger-full-access'];

describe('a command with children, one of them a server that left its group', () => {
  const listen = `require('net').createServer().listen(0, '127.0.0.1', function () { require('fs').writeFileSync('port', this.address().port + '\\n') })`;
  const script = `setsid -f ${process.execPath} -e "${listen}"; sh -c 'sleep 600 & sleep 600'`;

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s: no process is left, the port is free, the output says so', async (signal, status) => {
    await using server = await serve(step(command(script)), answer('on'));
    const program = startProgram(execArgs(server, ...full, 'go'), { place });
    const port = Number(await textOf(path.join(place.cwd, 'port')));
    program.child.kill(signal);
    const run = await program.ended;
    expect(run.status).toBe(status);
    expect(processesOf(place)).toEqual([]);
    await expect(connects(port)).resolves.toBe(false);
    expect(lines(run).at(-2)).toMatchObject({ type: 'item.completed', item: { type: 'command_execution' } });
    await runProgram(execArgs(server, 'resume', '--last', 'go on'), { place });
    const output = input(server, 1).find((item) => item.type === 'function_call_output');
    expect(output?.['output']).toMatch(/aborted/);
  });

  test('a second signal ends the program at once, and its commands with it', async () => {
    const deaf = `trap '' TERM INT; touch up; setsid sleep 601 & sleep 600`;
    await using server = await serve(step(command(deaf)));
    const program = startProgram(execArgs(server, ...full, 'go'), { place });
    await textOf(path.join(place.cwd, 'up'), '');
    program.child.kill('SIGINT');
    await new Promise((resolve) => setImmediate(resolve));
    program.child.kill('SIGINT');
    expect((await program.ended).status).toBe(130);
    expect(processesOf(place)).toEqual([]);
  });
});

test('a hundred commands at once, each with a child, end within moments', async () => {
  const many = Array.from({ length: 100 }, (_, i) => command('sleep 600 & sleep 600', `c${i}`));
  await using server = await serve(step(...many), answer('on'));
  const program = startProgram(execArgs(server, ...full, 'go'), { place });
  await program.said('"item_99"');
  program.child.kill('SIGINT');
  const run = await program.ended;
  expect(processesOf(place)).toEqual([]);
  const ended = lines(run).filter((line) => line['type'] === 'item.completed');
  expect(ended).toHaveLength(100);
  await runProgram(execArgs(server, 'resume', '--last', 'go on'), { place });
  const texts = outputs(server, 1);
  expect(texts).toHaveLength(100);
  // Given up is what takes five seconds or more; it says no wall time of its own.
  for (const text of texts) expect(text).toMatch(/^Wall time: .*\naborted by user/);
});

describe('Ctrl-C while nothing runs', () => {
  test('before the first byte of an answer, and in the middle of one', async () => {
    for (const events of [[{ hold: true }], [{ open_text: 'a few words of it' }, { hold: true }]]) {
      await using server = await serve({ events });
      const program = startProgram(execArgs(server, '--json', 'go'), { place });
      await server.waitForRequest(1);
      await program.said('turn.started');
      program.child.kill('SIGINT');
      const run = await program.ended;
      expect(run.status).toBe(130);
      expect(lines(run).at(-1)).toMatchObject({ type: 'turn.failed' });
    }
  });

  test('in a back-off that would last an hour', async () => {
    const busy = { status: 429, headers: { 'retry-after': '600' }, body: {} };
    await using server = await serve(busy, answer('never'));
    const program = startProgram(retryingArgs(server, 'stream_max_retries=3', '--json', 'go'), { place });
    await program.said('Reconnecting');
    program.child.kill('SIGINT');
    expect((await program.ended).status).toBe(130);
    expect(server.requests).toHaveLength(1);
  });

  test('while a prompt hook hangs: the program ends, and the hook with it', async () => {
    mkdirSync(place.home);
    const command = `touch '${place.cwd}/hooked'; sleep 600`;
    const hooks = { UserPromptSubmit: [{ hooks: [{ type: 'command', command }] }] };
    writeFileSync(path.join(place.home, 'hooks.json'), JSON.stringify({ hooks }));
    await using server = await serve(answer('never'));
    const program = startProgram(execArgs(server, '--dangerously-bypass-hook-trust', 'go'), { place });
    await textOf(path.join(place.cwd, 'hooked'), '');
    program.child.kill('SIGINT');
    expect((await program.ended).status).toBe(130);
    expect(processesOf(place)).toEqual([]);
    expect(server.requests).toHaveLength(0);
  });
});

test('a hook that leaves something running does not hold up the turn', async () => {
  mkdirSync(place.home);
  const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command: 'sleep 600 & echo $! > pid; exit 0' }] }] };
  writeFileSync(path.join(place.home, 'hooks.json'), JSON.stringify({ hooks }));
  await using server = await serve(step(command('echo ran')), answer('on'));
  const args = execArgs(server, '--dangerously-bypass-hook-trust', '-s', 'danger-full-access', 'go');
  const run = await runProgram(args, { place });
  process.kill(Number(readFileSync(path.join(place.cwd, 'pid'), 'utf8')));
  expect(run.stdout).toBe('on\n');
  expect(outputs(server, 1)[0]).toContain('ran');
});

test('input between the final answer and the end of a stop hook starts a further round', async () => {
  mkdirSync(place.home);
  const hook = {
    type: 'command',
    command: `touch '${place.cwd}/stopping'; until [ -e '${place.cwd}/go' ]; do sleep 0.02; done`,
  };
  writeFileSync(path.join(place.home, 'hooks.json'), JSON.stringify({ hooks: { Stop: [{ hooks: [hook] }] } }));
  await using server = await serve(answer('final'), answer('more'));
  await using session = await hostSession(place, server);
  const thread = await session.start();
  await thread.submit([{ type: 'text', text: 'start' }]);
  await textOf(path.join(place.cwd, 'stopping'), '');
  expect(await thread.submit([{ type: 'text', text: 'late' }])).toMatchObject({ kind: 'steered' });
  writeFileSync(path.join(place.cwd, 'go'), '');
  await thread.idle();
  expect(server.requests).toHaveLength(2);
  expect(JSON.stringify(input(server, 1).at(-1))).toContain('late');
  expect(thread.status).toEqual({ kind: 'idle' });
});

/** A file's text as soon as it is there and ends with `end`. */
function textOf(file: string, end = '\n'): Promise<string> {
  return new Promise((resolve) => {
    const watcher = watch(path.dirname(file), look);
    function look() {
      try {
        const text = readFileSync(file, 'utf8');
        if (!text.endsWith(end)) return;
        watcher.close();
        resolve(text);
      } catch {
        // not yet
      }
    }
    look();
  });
}

function connects(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

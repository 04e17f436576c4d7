/** `exec` for a person: prompts, files, exit statuses, signals, and everything that can be wrong before it starts. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ScriptServer } from '../../src/model/index.js';
import {
  createPlace,
  execArgs,
  lines,
  type Place,
  PROGRAM,
  type Run,
  requireBuild,
  runProgram,
  serve,
  startProgram,
} from './exec-support.js';

beforeAll(requireBuild);

let place: Place;
beforeEach(async () => {
  place = await createPlace();
});
afterEach(() => place[Symbol.asyncDispose]());

const answer = (text: string) => ({ events: [{ text }, { done: true }] });
const run = (args: readonly string[], options: Partial<Parameters<typeof runProgram>[1]> = {}) =>
  runProgram(args, { place, ...options });
/** Text of the last user message of a request. */
function lastUser(server: ScriptServer, n = 0): string {
  const input = server.requests[n]?.body['input'] as { role?: string; content: { text?: string }[] }[];
  return (
    input
      .findLast((item) => item.role === 'user')
      ?.content.map((part) => part.text ?? '')
      .join('') ?? ''
  );
}
function threadFiles(): string[] {
  return readdirSync(path.join(place.home, 'sessions'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.jsonl'),
  );
}

describe('what a person gets', () => {
  test('the last message on stdout, and nothing but the notice on a piped stderr', async () => {
    await using server = await serve({ events: [{ text: 'first' }, { text: 'the answer' }, { done: true }] });
    const result = await run(execArgs(server, 'go'));
    expect(result).toEqual({ status: 0, stdout: 'the answer\n', stderr: 'Reading additional input from stdin...\n' });
  });

  test('a failed turn: the cause on stderr, status 1, nothing on stdout', async () => {
    await using server = await serve({ status: 401, body: { error: { message: 'bad key' } } });
    const result = await run(execArgs(server, 'go'));
    expect(result).toMatchObject({ status: 1, stdout: '' });
    expect(result.stderr).toContain('bad key');
  });

  test('an ephemeral thread leaves no file', async () => {
    await using server = await serve(answer('ok'));
    expect((await run(execArgs(server, '--ephemeral', 'go'))).status).toBe(0);
    expect(() => readdirSync(path.join(place.home, 'sessions'))).toThrow();
  });

  test('a used-up budget has its own status', async () => {
    const step = { events: [{ call: 'exec_command', args: { cmd: 'true' }, id: 'c' }, { done: true }] };
    await using server = await serve(step, step, step);
    const result = await run(execArgs(server, '-c', 'max_steps_per_turn=1', '-s', 'danger-full-access', 'go'));
    expect(result.status).toBe(4);
    expect(result.stderr).toContain('budget');
  });
});

describe('prompts and stdin', () => {
  test('a pipe that stays open and silent does not hold up a prompt given as an argument', async () => {
    await using server = await serve(answer('ok'));
    const result = await run(execArgs(server, 'go'), { stdin: { kind: 'open' } });
    expect(result.status).toBe(0);
    expect(lastUser(server)).toBe('go');
    expect(result.stderr).toContain('Nothing came from stdin');
  });

  test('input without a final newline gets one inside the block', async () => {
    await using server = await serve(answer('ok'));
    await run(execArgs(server, 'look'), { stdin: 'data' });
    expect(lastUser(server)).toBe('look\n\n<stdin>\ndata\n</stdin>');
  });

  test('resume: the prompt may come from stdin, options may stand after it', async () => {
    await using server = await serve(answer('one'), answer('two'));
    await run(execArgs(server, 'first'));
    const args = execArgs(server).slice(1);
    const result = await run(['exec', 'resume', '--last', '-', ...args], { stdin: 'second' });
    expect(result).toMatchObject({ status: 0, stdout: 'two\n' });
    expect(lastUser(server, 1)).toBe('second');
    expect(threadFiles()).toHaveLength(1);
  });

  test('resume --last keeps to this folder unless told otherwise', async () => {
    await using server = await serve(answer('one'), answer('two'));
    await run(execArgs(server, 'first'));
    mkdirSync(path.join(place.base, 'elsewhere'));
    const elsewhere = ['-C', path.join(place.base, 'elsewhere')];
    expect(await run(execArgs(server, ...elsewhere, 'resume', '--last', 'x'))).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('TW_THREAD_UNKNOWN'),
    });
    expect((await run(execArgs(server, ...elsewhere, 'resume', '--last', '--all', 'x'))).stdout).toBe('two\n');
  });

  test('a unique beginning of an id is enough', async () => {
    await using server = await serve(answer('one'), answer('two'));
    const first = await run(execArgs(server, '--json', 'first'));
    const id = lines(first)[0]?.['thread_id'] as string;
    expect((await run(execArgs(server, 'resume', id.slice(0, 20), 'second'))).stdout).toBe('two\n');
  });

  test('options before exec count too', async () => {
    await using server = await serve(answer('ok'));
    const result = await run(['-c', 'model_reasoning_effort=high', ...execArgs(server, 'go')]);
    expect(result.status).toBe(0);
    expect(server.requests[0]?.body['reasoning']).toMatchObject({ effort: 'high' });
  });
});

/** A private file system of 16 KB can be made here. */
function canMount(): boolean {
  const script = 'mount -t tmpfs -o size=16k tmpfs /mnt';
  return spawnSync('unshare', ['-Urm', 'sh', '-c', script]).status === 0;
}

describe('what can be wrong', () => {
  type Case = [name: string, args: string[], status: number, stderr: RegExp, prepare?: () => void];
  const bare = ['exec', '--skip-git-repo-check'];
  const cases: Case[] = [
    [
      'an unknown flag, with the nearest',
      ['exec', '--jsn', 'x'],
      2,
      /unknown option '--jsn'[\s\S]*--json[\s\S]*exec --help/,
    ],
    ['an unknown command, with the nearest', ['exce', 'x'], 2, /no command 'exce'.*did you mean 'exec'/],
    ['a word too many', ['exec', 'a', 'b'], 2, /too many arguments/],
    ['a flag without its value', ['exec', '-m'], 2, /argument missing/],
    ['an unknown sandbox', ['exec', '-s', 'open', 'x'], 2, /read-only, workspace-write, danger-full-access/],
    ['a flag that is not possible here', ['exec', '--worktree', 'x'], 2, /--worktree is not supported/],
    ['a command that is not possible yet', ['exec', 'review'], 2, /not supported/],
    ['resume without a thread', ['exec', 'resume'], 2, /give a thread id/],
    ['a broken -c', [...bare, '-c', 'nonsense', 'x'], 1, /-c nonsense: expected key=value.*TW_CONFIG_PARSE/],
    [
      'a wrong value in -c',
      [...bare, '-c', 'approval_policy=sometimes', 'x'],
      1,
      /approval_policy is "sometimes"; expected one of/,
    ],
    [
      'an unknown key with --strict-config',
      [...bare, '--strict-config', '-c', 'nope=1', 'x'],
      1,
      /unknown configuration field `nope`/,
    ],
    [
      'broken TOML',
      [...bare, 'x'],
      1,
      /config\.toml:1:\d+: not valid TOML.*fix this line/,
      () => writeHome('config.toml', 'a = = b'),
    ],
    [
      'an unknown provider',
      [...bare, '-c', 'model_provider=opnai', 'x'],
      1,
      /no model provider "opnai"; did you mean "openai"/,
    ],
    ['a missing working folder', [...bare, '-C', '/no/such/dir', 'x'], 1, /\/no\/such\/dir cannot be entered.*TW_CWD/],
    [
      'a missing schema file',
      [...bare, '--output-schema', 'none.json', 'x'],
      1,
      /none\.json cannot be read.*TW_SCHEMA_FILE/,
    ],
    [
      'a schema that is no JSON',
      [...bare, '--output-schema', 's.json', 'x'],
      1,
      /s\.json is not valid JSON/,
      () => writeWork('s.json', '{'),
    ],
    [
      'a schema that is no object',
      [...bare, '--output-schema', 's.json', 'x'],
      1,
      /must be an object/,
      () => writeWork('s.json', '[1]'),
    ],
    ['a missing image', [...bare, '-i', 'none.png', 'x'], 1, /image none\.png cannot be read.*TW_INPUT_FILE/],
    [
      'an output file in no folder',
      [...bare, '-o', '/no/dir/f', 'x'],
      1,
      /\/no\/dir\/f cannot be written.*TW_OUTPUT_FILE/,
    ],
    ['a key that is not set', [...bare, '-c', 'model_provider=openai', 'x'], 1, /OPENAI_API_KEY.*not set/],
    ['no repository', ['exec', 'x'], 1, /Not inside a trusted directory/],
  ];
  const writeHome = (file: string, text: string) => {
    mkdirSync(place.home, { recursive: true });
    writeFileSync(path.join(place.home, file), text);
  };
  const writeWork = (file: string, text: string) => writeFileSync(path.join(place.cwd, file), text);

  test.each(cases)('%s', async (_name, args, status, stderr, prepare) => {
    prepare?.();
    const result = await run(args);
    expect(result.stderr).toMatch(stderr);
    expect(result).toMatchObject({ status, stdout: '' });
  });

  test('an unknown thread: status 1, and no line of JSON', async () => {
    await using server = await serve(answer('x'));
    const result = await run(execArgs(server, '--json', 'resume', '00000000-0000-0000-0000-000000000000', 'x'));
    expect(result).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('TW_THREAD_UNKNOWN') });
    expect(server.requests).toHaveLength(0);
  });

  test('a working folder that is gone', async () => {
    const started = path.join(place.base, 'gone');
    mkdirSync(started);
    const script = `cd ${started} && rmdir ${started} && exec "$0" "$@"`;
    const result = spawnSync('/bin/sh', ['-c', script, process.execPath, PROGRAM, 'exec', 'x'], {
      env: place.env,
      encoding: 'utf8',
      input: '',
    });
    expect(result.stderr).toMatch(/TW_CWD|ENOENT/);
    expect(result.status).toBe(1);
  });

  test('a model server that is down: the address is named, status 1', async () => {
    const server = await serve(answer('x'));
    await server.close();
    const result = await run(execArgs(server, 'go'));
    expect(result).toMatchObject({ status: 1, stdout: '' });
    expect(result.stderr).toContain(`127.0.0.1:${server.port}`);
  });

  test.skipIf(!canMount())('a full disk: said before anything is sent', async () => {
    await using server = await serve(answer('x'));
    mkdirSync(place.home);
    const script = `mount -t tmpfs -o size=16k tmpfs ${place.home} && head -c 16384 /dev/zero > ${place.home}/fill; exec "$0" "$@"`;
    const command = ['-Urm', 'sh', '-c', script, process.execPath, PROGRAM, ...execArgs(server, 'go')];
    const result = spawnSync('unshare', command, {
      cwd: place.cwd,
      env: place.env,
      encoding: 'utf8',
      input: '',
      timeout: 30_000,
    });
    expect(result).toMatchObject({ status: 1, stdout: '' });
    expect(result.stderr).toMatch(/cannot write .*the disk is full; free some space.*TW_HOME_WRITE/);
    expect(server.requests).toHaveLength(0);
  });

  test('a home that cannot be written: the path and what to do', async () => {
    await using server = await serve(answer('x'));
    writeFileSync(path.join(place.base, 'file'), '');
    const result = await run(execArgs(server, 'go'), { env: { TURNWRIGHT_HOME: path.join(place.base, 'file/home') } });
    expect(result).toMatchObject({ status: 1, stdout: '' });
    expect(result.stderr).toMatch(/cannot write .*file\/home.*TURNWRIGHT_HOME.*TW_HOME_WRITE/);
    expect(server.requests).toHaveLength(0);
  });

  test.skipIf(process.getuid?.() === 0)('a read-only home (root may write anywhere)', async () => {
    await using server = await serve(answer('x'));
    mkdirSync(place.home);
    chmodSync(place.home, 0o500);
    const result = await run(execArgs(server, 'go'));
    expect(result.stderr).toContain('permission denied');
    chmodSync(place.home, 0o700);
  });

  test('nothing to talk to: status 3, and every way out', async () => {
    const result = await run(['exec', '--skip-git-repo-check', 'x']);
    expect(result).toMatchObject({ status: 3, stdout: '' });
    expect(result.stderr).toMatch(/OPENAI_API_KEY[\s\S]*Ollama[\s\S]*model_providers[\s\S]*demo/);
  });
});

describe('signals', () => {
  const sleeping = {
    events: [
      { call: 'exec_command', args: { cmd: 'echo started; sleep 600', yield_time_ms: 30000 }, id: 'c1' },
      { done: true },
    ],
  };

  async function interruptCommand(server: ScriptServer, signal: NodeJS.Signals): Promise<Run> {
    const program = startProgram(execArgs(server, '--json', '-s', 'danger-full-access', 'go'), { place });
    await program.said('item.started');
    program.child.kill(signal);
    return program.ended;
  }

  test('Ctrl-C ends the turn with status 130, and the thread can go on', async () => {
    await using server = await serve(sleeping, answer('went on'));
    const result = await interruptCommand(server, 'SIGINT');
    expect(result.status).toBe(130);
    const id = lines(result)[0]?.['thread_id'] as string;
    expect(result.stderr).toContain(`exec resume ${id}`);
    expect(lines(result).at(-1)).toMatchObject({
      type: 'turn.failed',
      error: { message: expect.stringContaining('interrupted') },
    });
    expect(lines(result).at(-2)).toMatchObject({
      type: 'item.completed',
      item: { type: 'command_execution', status: 'failed' },
    });
    expect((await run(execArgs(server, 'resume', id, 'go on'))).stdout).toBe('went on\n');
    expect(server.requests[1]?.text).toContain('aborted by user');
  });

  test('SIGTERM ends it as well, and the command does not outlive it', async () => {
    await using server = await serve({
      events: [
        { call: 'exec_command', args: { cmd: 'echo $$ > pid; exec sleep 600', yield_time_ms: 30000 }, id: 'c1' },
        { done: true },
      ],
    });
    const program = startProgram(execArgs(server, '--json', '-s', 'danger-full-access', 'go'), { place });
    await program.said('item.started');
    const pid = await untilWritten(path.join(place.cwd, 'pid'));
    program.child.kill('SIGTERM');
    expect((await program.ended).status).toBe(143);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});

/** The number in a file, as soon as there is one. */
async function untilWritten(file: string): Promise<number> {
  return new Promise((resolve) => {
    const look = () => {
      try {
        const text = readFileSync(file, 'utf8');
        if (!text.endsWith('\n')) return;
        watcher.close();
        resolve(Number(text));
      } catch {
        // not there yet
      }
    };
    const watcher = watch(path.dirname(file), look);
    look();
  });
}

/** A thread that was killed, cut or edited goes on: every call has one output, and the person is told what is wrong. */
import { readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  answer,
  command,
  createPlace,
  execArgs,
  lines,
  outputs,
  type Place,
  patch,
  processesOf,
  requireBuild,
  runProgram,
  serve,
  shape,
  startProgram,
  step,
  threadFile,
} from './support.js';

beforeAll(requireBuild);
let place: Place;
beforeEach(async () => {
  place = await createPlace();
});
afterEach(() => place[Symbol.asyncDispose]());

const full = ['-s', 'danger-full-access'];
interface Line {
  ordinal: number;
  type: string;
  payload: { item?: { type: string } };
}

/** Lets the thread file pass through `change`; what remains is numbered anew. */
function edit(change: (records: Line[]) => Line[]): string {
  const file = threadFile(place);
  const records = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  const text = change(records)
    .map((record, i) => `${JSON.stringify({ ...record, ordinal: i + 1 })}\n`)
    .join('');
  writeFileSync(file, text);
  return text;
}

const without = (type: string) => (records: Line[]) => records.filter((record) => record.payload.item?.type !== type);
const untilOutput = (records: Line[]) =>
  records.slice(
    0,
    records.findIndex((r) => r.payload.item?.type === 'toolOutput'),
  );

describe('calls and outputs that lost each other', () => {
  test.each([
    ['a command', command('true')],
    ['a patch', patch('*** Begin Patch\n*** Add File: a\n+a\n*** End Patch')],
  ])('%s without output is answered as interrupted, right after the call', async (_name, call) => {
    await using server = await serve(step(call), answer('one'), answer('two'));
    await runProgram(execArgs(server, ...full, 'go'), { place });
    edit(untilOutput);
    const run = await runProgram(execArgs(server, ...full, 'resume', '--last', 'more'), { place });
    expect(run).toMatchObject({ status: 0, stdout: 'two\n' });
    expect(shape(server, 2)).toEqual(['call c1', 'output c1']);
    expect(outputs(server, 2)[0]).toMatch(/^aborted: /);
  });

  test.each([
    ['an output without its call is left out of the request', 'toolCall', []],
    [
      'a call whose output was cut out of a finished turn gets one',
      'toolOutput',
      ['call c1', 'output c1', 'assistant'],
    ],
  ])('%s, with a warning; the file keeps it', async (_name, missing, expected) => {
    await using server = await serve(step(command('true')), answer('one'), answer('two'));
    await runProgram(execArgs(server, ...full, 'go'), { place });
    const text = edit(without(missing));
    const run = await runProgram(execArgs(server, ...full, 'resume', '--last', 'more'), { place });
    expect(run).toMatchObject({ status: 0, stdout: 'two\n' });
    expect(run.stderr).toMatch(/warning: the thread's history was damaged: one (call|output) had no/);
    expect(shape(server, 2)).toEqual(missing === 'toolCall' ? ['assistant'] : expected);
    expect(readFileSync(threadFile(place), 'utf8').startsWith(text)).toBe(true);
  });
});

describe('files edited by hand', () => {
  type Case = [name: string, change: (text: string) => string, warning: RegExp | undefined];
  const mangle = (type: string, item: unknown) => (text: string) =>
    text
      .split('\n')
      .map((line) =>
        line.includes(`"type":"${type}"`) ? JSON.stringify({ ...JSON.parse(line), payload: { item } }) : line,
      )
      .join('\n');
  const cases: Case[] = [
    ['a torn last line', (text) => text.slice(0, -25), undefined],
    ['a byte order mark and Windows line ends', (text) => `\ufeff${text.replaceAll('\n', '\r\n')}`, undefined],
    ['something appended', (text) => `${text}\n\nfoo\n`, /not a record/],
    [
      'items of a kind not known here',
      (text) => text.replaceAll('"type":"agentMessage"', '"type":"futureThing"'),
      /not known here \(futureThing\)/,
    ],
    [
      'an answer without text',
      mangle('agentMessage', { type: 'agentMessage', id: 'm' }),
      /item \(agentMessage\) is not complete/,
    ],
    [
      'an output without outcome',
      mangle('toolOutput', { type: 'toolOutput', id: 'o', callId: 'c1' }),
      /item \(toolOutput\) is not complete/,
    ],
    ['an item that is no object', mangle('toolCall', null), /its item cannot be read/],
  ];
  test.each(cases)('%s: the rest is used', async (_name, change, warning) => {
    await using server = await serve(step(command('true')), answer('one'), answer('two'));
    await runProgram(execArgs(server, ...full, 'go'), { place });
    const file = threadFile(place);
    writeFileSync(file, change(readFileSync(file, 'utf8')));
    const run = await runProgram(execArgs(server, ...full, 'resume', '--last', 'more'), { place });
    expect(run).toMatchObject({ status: 0, stdout: 'two\n' });
    if (warning) expect(run.stderr).toMatch(warning);
    const sent = shape(server, 2).filter((part) => part !== 'assistant');
    expect(sent).toEqual(sent.length > 0 ? ['call c1', 'output c1'] : []);
  });

  test('a file that lost a record in its middle: one sentence with file and line, and nothing is sent', async () => {
    await using server = await serve(answer('one'), answer('two'));
    await runProgram(execArgs(server, 'go'), { place });
    const file = threadFile(place);
    writeFileSync(file, readFileSync(file, 'utf8').split('\n').toSpliced(3, 1).join('\n'));
    const run = await runProgram(execArgs(server, 'resume', '--last', 'more'), { place });
    expect(run).toMatchObject({ status: 1, stdout: '' });
    expect(run.stderr).toMatch(/error: .*\.jsonl:4: record 4 is missing.* \[TW_THREAD_CORRUPT\]/);
    expect(server.requests).toHaveLength(1);
  });
});

test('killed in the middle of a command: it is not run again, and the model is told that its effects are unknown', async () => {
  await using server = await serve(step(command('echo x >> mk; touch up; sleep 600')), answer('on'), answer('and on'));
  const started = startProgram(execArgs(server, '--json', ...full, 'go'), { place });
  await appears(path.join(place.cwd, 'up'));
  started.child.kill('SIGKILL');
  await started.ended;
  const run = await runProgram(execArgs(server, '--json', ...full, 'resume', '--last', 'more'), { place });
  expect(run.status).toBe(0);
  expect(shape(server, 1)).toEqual(['call c1', 'output c1']);
  expect(outputs(server, 1)[0]).toMatch(/what it changed, is unknown/);
  expect(readFileSync(path.join(place.cwd, 'mk'), 'utf8')).toBe('x\n');
  expect((await runProgram(execArgs(server, 'resume', '--last', 'later'), { place })).stdout).toBe('and on\n');
});

test('two resumes of one thread at once: one runs, the other says who holds it', async () => {
  const held = step(command('touch held; until [ -e go ]; do sleep 0.02; done'));
  await using server = await serve(answer('one'), held, answer('two'));
  await runProgram(execArgs(server, 'go'), { place });
  const first = startProgram(execArgs(server, '--json', ...full, 'resume', '--last', 'A'), { place });
  await appears(path.join(place.cwd, 'held'));
  const second = await runProgram(execArgs(server, '--json', ...full, 'resume', '--last', 'B'), { place });
  writeFileSync(path.join(place.cwd, 'go'), '');
  expect(second).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringContaining(`process ${first.child.pid}`),
  });
  expect(lines(await first.ended).at(-1)).toMatchObject({ type: 'turn.completed' });
  expect(server.requests).toHaveLength(3);
});

test.each([
  ['removed', (file: string) => rmSync(file)],
  ['emptied', (file: string) => writeFileSync(file, '')],
])(
  'a thread file that is %s while the turn runs ends the turn with a sentence, and nothing is left running',
  async (what, harm) => {
    const waits = step(command('touch up; until [ -e go ]; do sleep 0.02; done'), command('sleep 600', 'c2'));
    await using server = await serve(waits, answer('lost'));
    const program = startProgram(execArgs(server, '--json', ...full, 'go'), { place });
    await program.said('"item_1"');
    await appears(path.join(place.cwd, 'up'));
    harm(threadFile(place));
    writeFileSync(path.join(place.cwd, 'go'), '');
    const run = await program.ended;
    expect(run.status).toBe(1);
    expect(run.stderr).toMatch(
      /error: .*\.jsonl was (removed|changed) by another program; .* \[TW_STORE_CONFLICT\]\n$/,
    );
    expect(lines(run).at(-1)).toMatchObject({
      type: 'turn.failed',
      error: { message: expect.stringContaining('another program') },
    });
    expect(processesOf(place), what).toEqual([]);
    expect(server.requests).toHaveLength(1);
  },
);

function appears(file: string): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(path.dirname(file), look);
    function look() {
      try {
        readFileSync(file);
        watcher.close();
        resolve();
      } catch {
        // not yet
      }
    }
    look();
  });
}

/** Files that are no files: a pipe nobody writes to and a device without end neither hang a turn nor fill the memory. */
import { execFileSync } from 'node:child_process';
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  answer,
  createPlace,
  execArgs,
  outputs,
  type Place,
  patch,
  requireBuild,
  runProgram,
  serve,
  step,
} from './support.js';

beforeAll(requireBuild);
let place: Place;
beforeEach(async () => {
  place = await createPlace();
});
afterEach(() => place[Symbol.asyncDispose]());

const inCwd = (name: string) => path.join(place.cwd, name);
const pipe = (name: string) => execFileSync('mkfifo', [inCwd(name)]);
const look = (file: string) => ({ call: 'view_image', args: { path: file }, id: 'c1' });
const limited = ['-s', 'workspace-write'];
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

test.each([
  ['a device without end', '/dev/zero'],
  ['a link to one', 'link'],
  ['a pipe', 'pipe'],
  ['a folder', '/'],
])('looking at %s as an image fails at once', async (_name, file) => {
  pipe('pipe');
  symlinkSync('/dev/urandom', inCwd('link'));
  await using server = await serve(step(look(file)), answer('ok'));
  const run = await runProgram(execArgs(server, ...limited, 'go'), { place });
  expect(run).toMatchObject({ status: 0, stdout: 'ok\n' });
  expect(outputs(server, 1)[0]).toMatch(/^unable to locate image at .*(not a regular file|a folder)$/);
});

test('an image that policy hides stays hidden behind a link and under a pattern', async () => {
  writeFileSync(inCwd('hidden.png'), PNG);
  symlinkSync(inCwd('hidden.png'), inCwd('link.png'));
  for (const deny of [inCwd('hidden.png'), inCwd('hid*.png')]) {
    await using server = await serve(step(look('link.png')), step(look('hidden.png')), answer('ok'));
    const hide = ['-c', `sandbox.deny_read=[${JSON.stringify(deny)}]`];
    await runProgram(execArgs(server, ...limited, ...hide, 'go'), { place });
    for (const output of outputs(server, 2)) expect(output).toMatch(/denied by the sandbox policy/);
  }
});

test('a patch can neither read a pipe nor wait for one', async () => {
  pipe('pipe');
  const update = ['*** Begin Patch', '*** Update File: pipe', '@@', '-a', '+b', '*** End Patch'].join('\n');
  const remove = ['*** Begin Patch', '*** Delete File: pipe', '*** End Patch'].join('\n');
  await using server = await serve(step(patch(update)), step(patch(remove, 'c2')), answer('ok'));
  const run = await runProgram(execArgs(server, ...limited, 'go'), { place });
  expect(run.stdout).toBe('ok\n');
  expect(outputs(server, 2)).toHaveLength(2);
  expect(outputs(server, 2)[0]).toMatch(/pipe/);
});

test('instructions and attached images that are pipes are left out, and said so', async () => {
  pipe('AGENTS.md');
  pipe('a.png');
  await using server = await serve(answer('ok'));
  const run = await runProgram(execArgs(server, '-i', 'a.png', 'go'), { place });
  expect(run).toMatchObject({ status: 0, stdout: 'ok\n' });
  expect(run.stderr).toMatch(/AGENTS\.md cannot be read \(EINVAL\); its instructions are not used/);
  expect(server.requests[0]?.text).toContain('image a.png could not be read');
  expect(existsSync(inCwd('AGENTS.md'))).toBe(true);
});

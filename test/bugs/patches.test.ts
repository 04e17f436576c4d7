/** Patches through a whole turn: where they land, what a failing one leaves, what a wrong one is told. */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
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
const read = (name: string) => readFileSync(inCwd(name), 'utf8');
const envelope = (...body: readonly string[]) => ['*** Begin Patch', ...body, '*** End Patch'].join('\n');

/** Runs each input as a patch in a turn of its own step; the outputs in order. */
async function apply(
  inputs: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const steps = inputs.map((text, i) => step(patch(text, `c${i}`)));
  await using server = await serve(...steps, answer('ok'));
  const run = await runProgram(execArgs(server, '-s', 'workspace-write', 'go'), { place, env });
  expect(run.status).toBe(0);
  return outputs(server, inputs.length);
}

test('lines added under a scope line land there, not at the end of the file', async () => {
  writeFileSync(inCwd('f.py'), 'def a():\n    pass\n\ndef b():\n    pass\n');
  await apply([envelope('*** Update File: f.py', '@@ def a():', '+    x = 1')]);
  expect(read('f.py')).toBe('def a():\n    x = 1\n    pass\n\ndef b():\n    pass\n');
});

test('a file without a final newline stays without one', async () => {
  writeFileSync(inCwd('f'), 'one\ntwo\nthree');
  await apply([envelope('*** Update File: f', '@@', '-one', '+ONE')]);
  expect(read('f')).toBe('ONE\ntwo\nthree');
});

test('a hunk that does not fit undoes the whole patch; the error names the text, the nearest line and its number', async () => {
  writeFileSync(inCwd('f'), 'one\ntwo\nthree\n');
  const [output] = await apply([envelope('*** Add File: new.txt', '+new', '*** Update File: f', '@@', '-twoo', '+2')]);
  expect(existsSync(inCwd('new.txt'))).toBe(false);
  expect(read('f')).toBe('one\ntwo\nthree\n');
  expect(output).toMatch(/twoo/);
  expect(output).toMatch(/line 2/);
});

test('a target that cannot be written undoes the files before it', async () => {
  writeFileSync(inCwd('a'), 'a\n');
  mkdirSync(inCwd('dir/b'), { recursive: true });
  await apply([envelope('*** Update File: a', '@@', '-a', '+A', '*** Add File: dir/b', '+b')]);
  expect(read('a')).toBe('a\n');
});

test('a wrong envelope is understood, or told what is expected; the second time with more', async () => {
  const text = envelope('*** Add File: a.txt', '+a');
  await apply([JSON.stringify({ command: ['apply_patch', text] })]);
  expect(read('a.txt')).toBe('a\n');
  await apply([`\`\`\`\n${text.replace('a.txt', 'b.txt')}\n\`\`\``]);
  expect(read('b.txt')).toBe('a\n');
  const [first = '', second = ''] = await apply(['please add a file', 'please add a file']);
  expect(first).toMatch(/\*\*\* Begin Patch/);
  expect(second.length).toBeGreaterThan(first.length);
});

test('the config home is closed to patches, also when it lies inside the workspace or behind a link', async () => {
  mkdirSync(inCwd('.tw'));
  symlinkSync(inCwd('.tw'), inCwd('link'));
  const allow = '+prefix_rule(pattern=["rm"], decision="allow")';
  const inputs = ['.tw/rules/x.rules', '.tw/config.toml', 'link/hooks.json'].map((file) =>
    envelope(`*** Add File: ${file}`, allow),
  );
  const told = await apply(inputs, { TURNWRIGHT_HOME: inCwd('.tw') });
  for (const output of told) expect(output).toMatch(/^patch rejected: /);
  for (const file of ['rules/x.rules', 'config.toml', 'hooks.json'])
    expect(existsSync(inCwd(`.tw/${file}`))).toBe(false);
});

/** The recorded cases of Codex 0.171's `apply_patch`, judged as their README says. */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runApplyPatchCommand } from '../../src/tools/apply-patch/index.js';

type Content = string | { readonly base64: string };
interface Outcome {
  readonly exit_code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly files: Readonly<Record<string, Content>>;
  readonly modes?: Readonly<Record<string, string>>;
  readonly links?: Readonly<Record<string, string>>;
  readonly empty_dirs?: readonly string[];
}
interface Case {
  readonly name: string;
  readonly input: {
    readonly files?: Readonly<Record<string, Content>>;
    readonly modes?: Readonly<Record<string, string>>;
    readonly links?: Readonly<Record<string, string>>;
    readonly patch: string;
  };
  readonly expect: Outcome;
  readonly deviation?: { readonly why: string; readonly expect: Partial<Outcome> };
}

const folder = join(import.meta.dirname, '../conformance/apply_patch');
const cases = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Case);

let dir: string;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'patch-case-')));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('the cases are there', () => {
  expect(cases.length).toBeGreaterThan(100);
});

test.each(cases.map((one): [string, Case] => [one.name, one]))('%s', async (_, recorded) => {
  place(recorded.input);
  const untouched = readTree();
  const wanted: Outcome = { ...recorded.expect, ...recorded.deviation?.expect };

  const result = await run(recorded.input.patch.replaceAll('<CWD>', dir));

  expect(result.status === 0, result.stderr).toBe(wanted.exit_code === 0);
  if (wanted.exit_code === 0) {
    expect(result.stdout).toBe(wanted.stdout);
    expect(readTree()).toMatchObject({
      files: wanted.files,
      links: wanted.links ?? {},
      executable: Object.keys(wanted.modes ?? {}).sort(),
      empty: expect.arrayContaining([...(wanted.empty_dirs ?? [])]),
    });
    expect(Object.keys(readTree().files).sort()).toEqual(Object.keys(wanted.files).sort());
  } else {
    expect(readTree()).toEqual(untouched);
    expectSameCause(result.stderr, wanted.stderr);
  }
});

async function run(patch: string): Promise<{ status: number; stdout: string; stderr: string }> {
  const written = { stdout: '', stderr: '' };
  const sink = (name: 'stdout' | 'stderr') => ({
    write(text: string) {
      written[name] += text;
    },
  });
  const io = { stdin: oneChunk(patch), stdout: sink('stdout'), stderr: sink('stderr'), cwd: dir };
  const status = await runApplyPatchCommand([], io);
  return { status, stdout: clean(written.stdout), stderr: clean(written.stderr) };
}

async function* oneChunk(text: string): AsyncIterable<Buffer> {
  yield Buffer.from(text);
}

function clean(text: string): string {
  return text.replaceAll(dir, '<CWD>');
}

/** First words, file, quoted patch text and missing lines are binding; the wording around them is ours. */
function expectSameCause(got: string, recorded: string): void {
  const [first = '', ...rest] = recorded.split('\n');
  const cause =
    /^(Invalid patch hunk on line \d+|Invalid patch|Failed to [a-z ]+?(?= '| <CWD>| in <CWD>)|No files were modified)/.exec(
      first,
    )?.[0];
  expect(cause).toBeDefined();
  expect(got).toContain(cause);
  const file = /<CWD>\/[^\s:]+/.exec(first)?.[0];
  if (file) expect(got).toContain(file);
  const quoted = /'[^']*'/.exec(first)?.[0];
  if (quoted) expect(got).toContain(quoted);
  if (first.startsWith('Failed to find expected lines')) for (const line of rest) expect(got).toContain(line);
}

function place(input: Case['input']): void {
  for (const [name, content] of Object.entries(input.files ?? {})) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), typeof content === 'string' ? content : Buffer.from(content.base64, 'base64'));
  }
  for (const [name, mode] of Object.entries(input.modes ?? {})) chmodSync(join(dir, name), Number.parseInt(mode, 8));
  for (const [name, target] of Object.entries(input.links ?? {})) symlinkSync(target, join(dir, name));
}

interface Tree {
  readonly files: Record<string, Content>;
  readonly links: Record<string, string>;
  readonly executable: string[];
  readonly empty: string[];
}

function readTree(): Tree {
  const tree: Tree = { files: {}, links: {}, executable: [], empty: [] };
  for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' }).sort()) {
    const path = join(dir, name);
    const entry = lstatSync(path);
    if (entry.isSymbolicLink()) tree.links[name] = readlinkSync(path);
    else if (entry.isDirectory()) {
      if (readdirSync(path).length === 0) tree.empty.push(name);
    } else {
      const bytes = readFileSync(path);
      const text = bytes.toString('utf8');
      tree.files[name] = Buffer.from(text).equals(bytes) ? text : { base64: bytes.toString('base64') };
      if (statSync(path).mode & 0o111) tree.executable.push(name);
    }
  }
  return tree;
}

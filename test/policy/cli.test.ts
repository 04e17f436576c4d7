/** The `execpolicy` commands besides `check`. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runExecpolicyCommand } from '../../src/cli/execpolicy.js';
import { learnRule } from '../../src/policy/node.js';

let home: string;
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'tw-cli-'));
  mkdirSync(path.join(home, 'rules'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const rulesFile = () => path.join(home, 'rules/default.rules');

async function run(...args: readonly string[]) {
  const out = { stdout: '', stderr: '' };
  const stream = (name: 'stdout' | 'stderr') => ({ write: (text: string) => void (out[name] += text) });
  const exit = await runExecpolicyCommand(args, {
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    cwd: home,
    env: {},
    home,
  });
  return { exit, ...out };
}

describe('explain', () => {
  it('shows segments, matches with layer, file and line, and the outcome', async () => {
    writeFileSync(rulesFile(), 'prefix_rule(pattern=["git","push"], decision="prompt", justification="public")\n');
    const { exit, stdout } = await run('explain', 'ls && env git -C x push > log');
    expect(exit).toBe(0);
    expect(stdout).toContain('env git -C x push');
    expect(stdout).toContain('git -C x push (started by 2)');
    expect(stdout).toContain(`prompt by options ["git", "push"] at ${rulesFile()}:1 (user): public`);
    expect(stdout).toMatch(/^write {5}\/.*log$/m);
    expect(stdout).toMatch(/^outcome {3}ask$/m);
  });

  it('takes an argv after --, other circumstances, and answers in JSON', async () => {
    const { stdout } = await run(
      'explain',
      '--json',
      '-a',
      'never',
      '-s',
      'danger-full-access',
      '--',
      'rm',
      '-rf',
      'x y',
    );
    expect(JSON.parse(stdout)).toMatchObject({
      command: ['rm', '-rf', 'x y'],
      outcome: 'refuse',
      segments: [{ danger: expect.stringContaining('forced') }],
    });
  });
});

describe('test', () => {
  const table = (...rows: readonly object[]) => {
    writeFileSync(path.join(home, 'cases.jsonl'), rows.map((row) => JSON.stringify(row)).join('\n'));
    return 'cases.jsonl';
  };
  it('passes when examples and cases hold', async () => {
    writeFileSync(rulesFile(), 'prefix_rule(pattern=["ls"], match=["ls -l"])\n');
    const cases = table(
      { script: 'ls', expect: 'run outside the sandbox', rule: 'default.rules:1' },
      { argv: ['rm', '-f', 'x'], expect: 'ask' },
    );
    expect(await run('test', '--cases', cases)).toMatchObject({
      exit: 0,
      stdout: '1 examples hold; 2 cases passed, 0 failed\n',
    });
  });
  it('fails with the line of the case', async () => {
    expect(await run('test', '--cases', table({ script: 'ls', expect: 'refuse' }))).toMatchObject({
      exit: 1,
      stdout: expect.stringContaining('FAIL line 1'),
    });
  });
  it('fails with the place of a failing example', async () => {
    writeFileSync(path.join(home, 'x.rules'), 'prefix_rule(pattern=["ls"], match=["cat"])\n');
    const { exit, stderr } = await run('test', 'x.rules');
    expect(exit).toBe(1);
    expect(stderr).toMatch(/example_did_not_match: .*cat[\s\S]*x\.rules:1:1/);
  });
});

it('lint names place, kind and the other rule', async () => {
  writeFileSync(rulesFile(), 'prefix_rule(pattern=["a"])\nprefix_rule(pattern=["a","b"])\n');
  expect(await run('lint')).toMatchObject({
    exit: 1,
    stdout: `${rulesFile()}:2: shadowed: ["a"] (allow) at ${rulesFile()}:1 already says it\n`,
  });
});

it('list and revoke', async () => {
  await learnRule(home, ['gh', 'run', 'view'], {
    learnedAt: '2026-01-02T03:04:05Z',
    cwd: '/srv',
    command: 'gh run view 1',
  });
  await learnRule(home, ['make'], { learnedAt: '2026-01-02T03:04:06Z' });
  expect((await run('list')).stdout).toContain('learned 2026-01-02T03:04:05Z, in /srv, for gh run view 1');
  expect((await run('revoke', '1')).exit).toBe(0);
  expect((await run('revoke', '7')).exit).toBe(1);
  expect(readFileSync(rulesFile(), 'utf8')).toBe('prefix_rule(pattern=["make"], decision="allow")\n');
});

it("confirm lets a project's allow rules count until the file changes", async () => {
  const project = path.join(home, '.codex/rules/p.rules');
  mkdirSync(path.dirname(project), { recursive: true });
  writeFileSync(project, 'prefix_rule(pattern=["make"])\n');
  const outcome = async () => JSON.parse((await run('explain', '--json', 'make')).stdout).outcome as string;
  expect(await outcome()).toBe('run');
  expect((await run('confirm', '.codex/rules/p.rules')).exit).toBe(0);
  expect(await outcome()).toBe('run outside the sandbox');
  writeFileSync(project, 'prefix_rule(pattern=["make"])\n# changed\n');
  expect(await outcome()).toBe('run');
});

it('compact shows, then writes, and leaves what people wrote', async () => {
  const line = (...words: readonly string[]) =>
    `prefix_rule(pattern=${JSON.stringify(words).replaceAll(',', ', ')}, decision="allow")\n`;
  const before = `# mine\n${line('git', 'log')}${line('git', 'show')}prefix_rule(pattern=["git","push"], decision="prompt")\n`;
  writeFileSync(rulesFile(), before);
  const after =
    '# mine\nprefix_rule(pattern=["git","push"], decision="prompt")\nprefix_rule(pattern=["git", ["log", "show"]], decision="allow")\n';
  expect(await run('compact')).toMatchObject({ exit: 0, stdout: after });
  expect(readFileSync(rulesFile(), 'utf8')).toBe(before);
  expect((await run('compact', '--write')).exit).toBe(0);
  expect(readFileSync(rulesFile(), 'utf8')).toBe(after);
});

it('simulate counts outcomes and shows what other rules would change', async () => {
  writeFileSync(path.join(home, 'past.jsonl'), '{"script":"make"}\n{"script":"make"}\n{"argv":["git","push"]}\n');
  writeFileSync(path.join(home, 'new.rules'), 'prefix_rule(pattern=["git","push"], decision="forbidden")\n');
  const { stdout, stderr } = await run('simulate', '-r', 'new.rules', 'past.jsonl');
  expect(stdout).toMatch(/^run → refuse {2}git push {2}\(.*new\.rules:1\)\n$/);
  expect(stderr).toBe('3 commands, 2 distinct: 2 run, 1 refuse\n');
});

it('simulate without a file judges what models called for in the threads of this home, refused calls included', async () => {
  expect(await run('simulate')).toMatchObject({ exit: 1, stderr: expect.stringContaining('holds no thread') });
  const call = (cmd: string, more: object) => ({
    type: 'item.completed',
    payload: {
      item: {
        type: 'toolCall',
        tool: 'exec_command',
        payload: { kind: 'function', arguments: JSON.stringify({ cmd, ...more }) },
      },
    },
  });
  const records = [
    { type: 'turn.started', payload: { settings: { cwd: '/srv/project' } } },
    call('make', {}),
    call('git push', { workdir: 'sub' }),
  ];
  const folder = path.join(home, 'sessions/2026/01/02');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    path.join(folder, 'rollout-1.jsonl'),
    `${records.map((record) => JSON.stringify(record)).join('\n')}\n{"torn`,
  );
  writeFileSync(path.join(home, 'new.rules'), 'prefix_rule(pattern=["git","push"], decision="forbidden")\n');
  const { stdout, stderr } = await run('simulate', '-r', 'new.rules');
  expect(stdout).toMatch(/^run → refuse {2}.*git push.*\(.*new\.rules:1\)\n$/);
  expect(stderr).toBe('2 commands, 2 distinct: 1 run, 1 refuse\n');
});

it.each([[['nope']], [['explain']], [['explain', '-s', 'x', 'ls']], [['revoke']], [['list', 'x']]])(
  '%j is a usage error',
  async (args) => {
    expect(await run(...args)).toMatchObject({ exit: 2, stdout: '' });
  },
);

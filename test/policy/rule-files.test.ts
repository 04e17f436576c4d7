/** Rules on disk: what is read, learned, revoked, and what an edit or a mistake does while a session runs. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseRules } from '../../src/policy/index.js';
import {
  createPolicySource,
  gitIsPlain,
  learnedRulesFile,
  learnRule,
  listLearned,
  loadPolicy,
  revokeRule,
  ruleDirectories,
} from '../../src/policy/node.js';
import { ask } from './helpers.js';

let home: string;
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'tw-home-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const NOTE = {
  learnedAt: '2026-01-02T03:04:05Z',
  thread: 't1',
  cwd: '/srv',
  command: 'gh run view 1',
  reason: 'a person said so',
};
const FORBID = 'prefix_rule(pattern=["touch"], decision="forbidden")\n';

function write(file: string, text: string): void {
  mkdirSync(path.dirname(path.join(home, file)), { recursive: true });
  writeFileSync(path.join(home, file), text);
}
const user = () => ({ directories: ruleDirectories({ home }) });

describe('learned rules', () => {
  it('are one line each, however often they are learned', async () => {
    const made = [];
    for (let i = 0; i < 3; i++) made.push(await learnRule(home, ['gh', 'run', 'view'], NOTE));
    expect(made).toEqual([true, false, false]);
    expect(readFileSync(learnedRulesFile(home), 'utf8')).toBe(
      'prefix_rule(pattern=["gh", "run", "view"], decision="allow")\n',
    );
  });

  it('are safe between processes', async () => {
    const door = path.resolve(import.meta.dirname, '../../src/policy/node.ts');
    const code = `import { learnRule } from ${JSON.stringify(door)};
      for (let i = 0; i < 20; i++) { await learnRule(${JSON.stringify(home)}, ['shared'], {learnedAt: 'now'}); await learnRule(${JSON.stringify(home)}, ['p' + process.argv[1], String(i)], {learnedAt: 'now'}); }`;
    const ended = ['a', 'b', 'c'].map((name) => {
      const args = ['--import', 'tsx', '--input-type=module', '-e', code, name];
      return once(spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] }), 'exit');
    });
    expect(await Promise.all(ended)).toEqual([0, 0, 0].map((status) => [status, null]));
    const text = readFileSync(learnedRulesFile(home), 'utf8');
    const lines = text.split('\n').filter(Boolean);
    expect(lines).toHaveLength(61);
    expect(new Set(lines).size).toBe(61);
    expect(parseRules(text).rules).toHaveLength(61);
    expect(existsSync(`${learnedRulesFile(home)}.lock`)).toBe(false);
  });

  it('tell when, why and where; revoking takes effect without a restart', async () => {
    const source = createPolicySource(user());
    const before = source.current().fingerprint;
    await learnRule(home, ['gh', 'run', 'view'], NOTE);
    const learned = source.current();
    expect(learned.fingerprint).not.toBe(before);
    expect(ask(learned, 'gh run view 1', { approvalPolicy: 'untrusted' }).kind).toBe('skip');
    const [entry] = listLearned(home);
    expect(entry).toMatchObject({ line: 1, note: NOTE });
    expect(await revokeRule(home, entry!.text, '2026-01-03T00:00:00Z')).toBe(true);
    expect(listLearned(home)).toEqual([]);
    expect(source.current().fingerprint).toBe(before);
    expect(ask(source.current(), 'gh run view 1', { approvalPolicy: 'untrusted' }).kind).toBe('needsApproval');
  });

  it('end an unfinished last line, and keep what people wrote', async () => {
    write('rules/default.rules', '# mine\nprefix_rule(pattern=["ls"])');
    await learnRule(home, ['a "b"', 'é\n'], NOTE);
    const text = readFileSync(learnedRulesFile(home), 'utf8');
    expect(text).toBe(
      '# mine\nprefix_rule(pattern=["ls"])\nprefix_rule(pattern=["a \\"b\\"", "é\\n"], decision="allow")\n',
    );
    expect(parseRules(text).rules[1]!.pattern).toEqual([['a "b"'], ['é\n']]);
  });

  it('are not written through a link that leaves the home', async () => {
    const outside = mkdtempSync(path.join(tmpdir(), 'tw-outside-'));
    writeFileSync(path.join(outside, 'x.rules'), '');
    mkdirSync(path.join(home, 'rules'));
    symlinkSync(path.join(outside, 'x.rules'), learnedRulesFile(home));
    await expect(learnRule(home, ['ls'], NOTE)).rejects.toMatchObject({ code: 'TW_HOME_WRITE' });
    expect(readFileSync(path.join(outside, 'x.rules'), 'utf8')).toBe('');
    rmSync(outside, { recursive: true });
  });

  it('survive a lock whose owner died', async () => {
    write('rules/default.rules.lock', '999999999');
    expect(await learnRule(home, ['ls'], NOTE)).toBe(true);
  });
});

describe('reading', () => {
  it('takes regular files with the extension, sorted, and nothing else', () => {
    write('rules/b.rules', 'prefix_rule(pattern=["b"])');
    write('rules/.a.rules', 'prefix_rule(pattern=["a"])');
    for (const other of ['c.RULES', 'd.rule', 'e.txt', '.rules'])
      write(`rules/${other}`, 'prefix_rule(pattern=["no"])');
    mkdirSync(path.join(home, 'rules/sub.rules'));
    symlinkSync(path.join(home, 'rules/b.rules'), path.join(home, 'rules/link.rules'));
    expect(loadPolicy(user()).files.map(({ file }) => path.basename(file))).toEqual(['.a.rules', 'b.rules']);
  });

  it('keeps good files beside a broken one, which makes the session ask', () => {
    write('rules/a.rules', `${FORBID}prefix_rule(pattern=["ls"])\n`);
    write('rules/b.rules', 'prefix_rule(pattern=["tmux x"], match=["tmux x"])\n');
    const policy = loadPolicy(user());
    expect(policy.broken.map((error) => error.message)).toEqual([
      expect.stringMatching(/b\.rules:1:1: example_did_not_match: .*tmux x/),
    ]);
    expect(ask(policy, 'touch M').kind).toBe('forbidden');
    expect(ask(policy, 'ls')).toMatchObject({ kind: 'skip', bypassSandbox: true });
    const asked = ask(policy, 'make');
    expect(asked.kind === 'needsApproval' && asked.reason).toContain('b.rules:1:1');
    expect(ask(policy, 'make', { approvalPolicy: 'never' }).kind).toBe('forbidden');
  });

  it('keeps the last good version of a file that breaks while running, and warns once', () => {
    write('rules/a.rules', FORBID);
    const warnings: string[] = [];
    const source = createPolicySource(user(), { onWarning: (text) => warnings.push(text) });
    expect(ask(source.current(), 'touch M').kind).toBe('forbidden');
    write('rules/a.rules', 'prefix_rule(pattern=[)\n');
    for (let i = 0; i < 3; i++) expect(ask(source.current(), 'touch M').kind).toBe('forbidden');
    expect(ask(source.current(), 'ls').kind).toBe('skip');
    expect(warnings).toEqual([expect.stringMatching(/a\.rules:1:\d+: syntax/)]);
    write('rules/a.rules', 'prefix_rule(pattern=["mkdir"], decision="forbidden")\n');
    expect(ask(source.current(), 'touch M').kind).toBe('skip');
    expect(ask(source.current(), 'mkdir M').kind).toBe('forbidden');
  });
});

describe('rules of a project', () => {
  const RULES = `${FORBID}prefix_rule(pattern=["make"])\n`;
  const project = () => path.join(home, 'project');
  const load = (
    trust: 'trusted' | 'untrusted' | 'unknown',
    readOnly = false,
    confirmed: ReadonlySet<string> = new Set(),
  ) => loadPolicy({ directories: ruleDirectories({ home, projects: [project()], trust, readOnly }), confirmed });

  it.each(['.codex', '.turnwright'])('restrict at once and allow after a person confirmed the file (%s)', (folder) => {
    write(`project/${folder}/rules/p.rules`, RULES);
    const waiting = load('trusted');
    expect(ask(waiting, 'touch M').kind).toBe('forbidden');
    expect(ask(waiting, 'make')).toMatchObject({ kind: 'skip', bypassSandbox: false });
    const confirmed = load('trusted', false, new Set([createHash('sha256').update(RULES).digest('hex')]));
    expect(ask(confirmed, 'make')).toMatchObject({ kind: 'skip', bypassSandbox: true });
    write(`project/${folder}/rules/p.rules`, `${RULES}# changed\n`);
    const changed = load('trusted', false, new Set([createHash('sha256').update(RULES).digest('hex')]));
    expect(ask(changed, 'make')).toMatchObject({ bypassSandbox: false });
  });

  it('are not read in an untrusted project, nor by a read-only session of unknown trust', () => {
    write('project/.codex/rules/p.rules', RULES);
    expect(ask(load('untrusted'), 'touch M').kind).toBe('skip');
    expect(ask(load('unknown', true), 'touch M').kind).toBe('skip');
    expect(ask(load('unknown'), 'touch M').kind).toBe('forbidden');
  });
});

describe('a repository that names helpers', () => {
  it.each([
    ['plain', '[core]\n\tbare = false\n[remote "o"]\n\turl = x\n', true],
    ['a pager', '[core]\n\tpager = ./x\n', false],
    ['a file system monitor', '[core]\n\tfsmonitor = ./x\n', false],
    ['an external diff', '[diff]\n\texternal = ./x\n', false],
    ['a filter', '[filter "x"]\n\tclean = ./x\n', false],
    ['an alias', '[alias]\n\tst = !./x\n', false],
    ['an include', '[include]\n\tpath = ../x\n', false],
  ])('%s', (_, config, plain) => {
    write('project/.git/HEAD', 'ref: refs/heads/main\n');
    write('project/.git/config', config);
    expect(gitIsPlain(path.join(home, 'project'))).toBe(plain);
    const answer = ask(loadPolicy(user()), 'git status', {
      approvalPolicy: 'untrusted',
      facts: { gitIsPlain: gitIsPlain(path.join(home, 'project')) },
    });
    expect(answer.kind).toBe(plain ? 'skip' : 'needsApproval');
  });
});

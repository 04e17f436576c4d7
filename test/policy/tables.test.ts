/** The tables a reader can check, and the small decisions around them. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  assessDanger,
  type CommandAction,
  compactRules,
  createPolicy,
  gradedPrefix,
  isSafeCommand,
  isTooBroad,
  lintRules,
  managedRules,
  networkLists,
  parseRules,
  summarizeCommand,
} from '../../src/policy/index.js';
import { ask, CWD, rules } from './helpers.js';

const words = (text: string): string[] => text.split(' ');

describe('commands that only read', () => {
  it.each([
    ['cat a.txt', true],
    ['ls -la', true],
    ['sort a.txt', true],
    ['sort -o b a.txt', false],
    ['sort -uo b a.txt', false],
    ['sort --output=b a.txt', false],
    ['sort --outp b a.txt', false],
    ['sort --compress-prog=./x a', false],
    ['uniq in', true],
    ['uniq in out', false],
    ['find . -name x', true],
    ['find . -delete', false],
    ['find . -exec ls {} +', false],
    ['find . -fprint x', false],
    ['rg foo', true],
    ['rg --pre ./x foo', false],
    ['rg -nz foo', false],
    ['sed -n 1,5p a', true],
    ['sed -n 1,$p a', true],
    ['sed -n w x', false],
    ['sed -i s/a/b/ a', false],
    ['sed -n -i 1p', false],
    ['date +%s', true],
    ['date -s now', false],
    ['date 010203042026', false],
    ['hostname', true],
    ['hostname evil', false],
    ['base64 a', true],
    ['base64 -o b a', false],
    ['command -v ls', true],
    ['command ls', false],
    ['printf -v PATH x', false],
    ['tree -o x', false],
    ['/bin/cat a', false],
    ['./cat a', false],
    ['less a', false],
    ['awk 1 a', false],
    ['tee a', false],
    ['git status', false],
  ])('%s: %s', (text, safe) => expect(isSafeCommand(words(text))).toBe(safe));

  it.each([
    ['git status', true],
    ['git log --oneline', true],
    ['git log --output=x', false],
    ['git diff --ext-diff', false],
    ['git -c core.pager=x log', false],
    ['git branch', true],
    ['git branch -D x', false],
    ['git branch x', false],
    ['git grep -O foo', false],
    ['git push', false],
    ['git stash', false],
  ])('%s in a repository without helpers: %s', (text, safe) => {
    expect(isSafeCommand(words(text), { gitIsPlain: true })).toBe(safe);
  });
});

describe('commands that destroy', () => {
  it.each([
    ['rm -f x', 'forced'],
    ['rm x -rf', 'forced'],
    ['rm -rf /', 'catastrophic'],
    ['rm -rf ~', 'catastrophic'],
    ['rm -r /etc', 'catastrophic'],
    ['rm -r x', 'destructive'],
    ['rm -- -f', 'destructive'],
    ['mkfs.ext4 /dev/sda1', 'catastrophic'],
    ['dd if=x of=/dev/sda', 'catastrophic'],
    ['dd if=x of=y', 'destructive'],
    ['find . -delete', 'destructive'],
    ['git clean -fdx', 'destructive'],
    ['git clean -fdn', undefined],
    ['git reset --hard', 'destructive'],
    ['git reset', undefined],
    ['git push --force', 'destructive'],
    ['git push', undefined],
    ['git push o +main', 'destructive'],
    ['shred f', 'destructive'],
    ['chmod -R 777 x', 'destructive'],
    ['chmod +x x', undefined],
    ['npm publish', 'destructive'],
    ['npm publish --dry-run', undefined],
    ['kubectl delete pod x', 'destructive'],
    ['mv a b', undefined],
    ['grep -rf p .', undefined],
  ])('%s: %s', (text, grade) => expect(assessDanger(words(text))?.grade).toBe(grade));
});

describe('what may be remembered', () => {
  it.each([
    ['python3', true],
    ['/usr/bin/python3.11', true],
    ['bash -c', true],
    ['sudo', true],
    ['curl', true],
    ['npm run', true],
    ['npm install', false],
    ['cargo run', false],
    ['ls', false],
    ['gh run view', false],
    ['python3 -m pytest', false],
  ])('%s is too broad: %s', (text, broad) => expect(isTooBroad(words(text))).toBe(broad));

  it.each([
    ['gh run view 1', 'gh run view'],
    ['cargo build --release', 'cargo build'],
    ['git -C x status', 'git -C x status'],
    ['ls -la', 'ls'],
    ['./build.sh all', './build.sh all'],
  ])('of %s: %s', (text, prefix) => expect(gradedPrefix(words(text)).join(' ')).toBe(prefix));
});

describe('rules that do not do what they seem to', () => {
  it.each([
    ['duplicate', 'prefix_rule(pattern=["a"])\nprefix_rule(pattern=["a"])', 2],
    ['shadowed', 'prefix_rule(pattern=["a"])\nprefix_rule(pattern=["a","b"])', 2],
    ['conflict', 'prefix_rule(pattern=["a"])\nprefix_rule(pattern=["a"], decision="prompt")', 2],
    ['dead', 'prefix_rule(pattern=["a","b"])\nprefix_rule(pattern=["a"], decision="forbidden")', 1],
    ['dead', 'prefix_rule(pattern=["tmux x"])', 1],
    ['too-broad', 'prefix_rule(pattern=["python3"])', 1],
  ] as const)('%s', (kind, text, line) => {
    expect(lintRules(rules(text)).map((finding) => [finding.kind, finding.rule.origin.line])).toEqual([[kind, line]]);
  });

  it('good rules have no findings', () => {
    expect(
      lintRules(
        rules('prefix_rule(pattern=["a"], decision="prompt")\nprefix_rule(pattern=["a","b"], decision="forbidden")'),
      ),
    ).toEqual([]);
  });
});

it('compacting keeps every decision', () => {
  const text = ['git log', 'git show', 'git log -p', 'hg log', 'hg show', 'ls']
    .map((line) => `prefix_rule(pattern=${JSON.stringify(words(line))})\n`)
    .join('');
  const { rules: made, cases } = compactRules(parseRules(text).rules);
  expect(made.map(({ pattern }) => pattern)).toEqual([
    [['ls']],
    [
      ['git', 'hg'],
      ['log', 'show'],
    ],
  ]);
  expect(cases).toBeGreaterThan(20);
});

describe('the summary for people', () => {
  const table: (readonly [string, readonly CommandAction[]])[] = [
    ['cat a.txt', [{ type: 'read', command: 'cat a.txt', name: 'a.txt', path: `${CWD}/a.txt` }]],
    [
      'cd src && cat main.rs | head -n 5',
      [{ type: 'read', command: 'cat main.rs', name: 'main.rs', path: `${CWD}/src/main.rs` }],
    ],
    ['ls -la src', [{ type: 'listFiles', command: 'ls -la src', path: 'src' }]],
    ['rg foo src | wc -l', [{ type: 'search', command: 'rg foo src', query: 'foo', path: 'src' }]],
    ['find . -name main.rs', [{ type: 'search', command: 'find . -name main.rs', query: 'main.rs', path: '.' }]],
    ...[
      'ls | tee out',
      'ls | xargs rm',
      'cat a > b',
      'rg --pre ./x foo',
      'find . -delete',
      'cat a | sort -o x',
      'ls; exec rm x',
      'less +!ls a',
      'fd -x touch',
      'git grep -Oless foo',
      'awk \'BEGIN{system("x")}\' a',
      'ls $(touch x)',
      'ls() { rm x; }; ls',
    ].map((script) => [script, [{ type: 'unknown', command: script }]] as const),
  ];
  it.each(table)('%s', (script, actions) => expect(summarizeCommand(script, { cwd: CWD })).toEqual(actions));
});

describe('managed rules', () => {
  const table = {
    prefix_rules: [
      { pattern: [{ token: 'git' }, { any_of: ['push', 'pull'] }], decision: 'prompt', justification: 'public' },
    ],
  };

  it('ask by base name, however the program is spelled', () => {
    const policy = createPolicy([managedRules(table, 'requirements.toml')]);
    for (const script of ['git push', '/usr/bin/git pull', './git push', 'env git -C x push'])
      expect(ask(policy, script).kind).toBe('needsApproval');
  });

  it.each([
    [{ prefix_rules: [{ pattern: [{ token: 'x' }], decision: 'allow' }] }],
    [{ prefix_rules: [{ pattern: [], decision: 'prompt' }] }],
    [{ prefix_rules: 3 }],
  ])('refuse %j', (bad) =>
    expect(() => managedRules(bad, 'requirements.toml')).toThrow(/requirements\.toml: rules\.prefix_rules/),
  );
});

it('network rules become lists, the later rule per host wins', () => {
  const policy = rules(
    'network_rule(host="A.com:443", protocol="https", decision="allow")\nnetwork_rule(host="b.com", protocol="http", decision="deny")\nnetwork_rule(host="a.com", protocol="https", decision="deny")\nnetwork_rule(host="c.com", protocol="https", decision="prompt")',
  );
  expect(networkLists(policy)).toEqual({ allow: [], deny: ['a.com', 'b.com'] });
});

it('the pure door imports nothing of Node', () => {
  const root = path.resolve(import.meta.dirname, '../../src/policy');
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const [, from] of readFileSync(file, 'utf8').matchAll(/^(?:import|export)[^;]*? from '([^']+)'/gms)) {
      expect(from, file).not.toMatch(/^node:/);
      if (from!.startsWith('.')) visit(path.resolve(path.dirname(file), from!.replace(/\.js$/, '.ts')));
    }
  };
  visit(path.join(root, 'index.ts'));
  expect(seen.size).toBeGreaterThan(readdirSync(root).length / 2);
});

/** Behaviours that users of coding agents reported as broken somewhere, at the level of policy. */
import { describe, expect, it } from 'vitest';
import { withRule } from '../../src/policy/index.js';
import { ask, rules } from './helpers.js';

const FORBID_TOUCH = rules('prefix_rule(pattern=["touch"], decision="forbidden")');

describe('redirections and a covered command', () => {
  const policy = rules('prefix_rule(pattern=["xcodebuild"], decision="allow")');
  it.each([
    ['xcodebuild -quiet build 2>&1', 'skip'],
    ['xcodebuild -quiet build > build.log', 'skip'],
    ['xcodebuild x > /etc/y', 'needsApproval'],
  ] as const)('%s: %s', (script, kind) => {
    for (const approvalPolicy of ['untrusted', 'on-request'] as const) {
      const answer = ask(policy, script, { approvalPolicy });
      expect(answer.kind).toBe(kind);
      if (answer.kind === 'skip') expect(answer.bypassSandbox).toBe(false);
    }
  });
});

const COMPOUND = [
  '(touch M)',
  '{ touch M; }',
  'for f in M; do touch $f; done',
  'if true; then touch M; fi',
  'case x in x) touch M;; esac',
  'f(){ touch M; }; f',
  '! touch M',
  'touch M & wait',
  'time touch M',
  '(( 1 )) && touch M',
  '# note\ntouch M',
];
const LAUNCHED = [
  'env touch M',
  'env A=1 touch M',
  'timeout 5 touch M',
  'nice -n 5 touch M',
  'nohup touch M',
  'command touch M',
  'exec touch M',
  'stdbuf -o0 touch M',
  'setsid touch M',
  'echo M | xargs touch',
  'find . -maxdepth 0 -exec touch M \\;',
  'sudo -n touch M',
];
const QUOTED = ["'tou'ch M", '\\touch M', '"touch" M', "$'touch' M", 't\\ouch M'];
const ELSEWHERE = [
  'touch M > out.txt',
  '2>/dev/null touch M',
  'A=1 touch M',
  'echo $(touch M)',
  'echo `touch M`',
  'cat <(touch M)',
  'cat <<EOF\n$(touch M)\nEOF',
  'bash <<EOF\ntouch M\nEOF',
  'bash -c "touch M"',
  "sh -ec 'touch M'",
  'dash -c "true && touch M"',
  'eval "touch M"',
  "trap 'touch M' EXIT",
  'while touch M; do break; done',
  'until ! touch M; do :; done',
  'select x in a; do touch M; done',
  'coproc touch M',
  '[[ -n $(touch M) ]]',
  'x=$(touch M)',
  'echo ${x:-$(touch M)}',
  'echo $(( $(touch M) ))',
  'to\\\nuch M',
  '/usr/bin/touch M',
  './touch M',
  'true && { ( time env nice touch M ); }',
  'xargs -I{} touch {} < list',
  'parallel touch ::: M',
  'watch touch M',
  'sudo -u nobody -- env -i A=1 touch M',
  "env -S 'touch M'",
  'script -qc "touch M"',
  'flock lock touch M',
  'git bisect run touch M',
  "git -c alias.x='!touch M' x",
  'busybox touch M',
  'touch $FILE',
  "alias t='touch M'; t",
];

describe('a forbidden program is found in every spelling', () => {
  it.each([...COMPOUND, ...LAUNCHED, ...QUOTED, ...ELSEWHERE])('%s', (script) => {
    for (const approvalPolicy of ['on-request', 'never', 'untrusted'] as const) {
      const answer = ask(FORBID_TOUCH, script, { approvalPolicy });
      expect(answer.kind).toBe('forbidden');
      expect(answer.kind === 'forbidden' && answer.reason).toContain('0.rules:1');
    }
  });

  it.each([
    'echo touch M',
    'grep touch a.txt',
    'cat touch',
    "echo '$(touch M)'",
    'git add touch',
    "cat <<'EOF'\n$(touch M)\nEOF",
    '# touch M\nls',
  ])('but not where it is only text: %s', (script) => expect(ask(FORBID_TOUCH, script).kind).toBe('skip'));

  it.each([
    '$CMD M',
    'eval "$X"',
    'bash -c "$X"',
    'echo "touch M" | sh',
    '"$(printf tou)ch" M',
    '/usr/bin/tou?h M',
    'if true; then',
  ])('and what cannot be known asks: %s', (script) => {
    expect(ask(FORBID_TOUCH, script).kind).toBe('needsApproval');
    expect(ask(FORBID_TOUCH, script, { approvalPolicy: 'never' }).kind).toBe('forbidden');
  });

  it('an unknown launcher never inherits what is allowed behind it', () => {
    const policy = rules('prefix_rule(pattern=["ls"], decision="allow")');
    expect(ask(policy, 'mylauncher ls', { approvalPolicy: 'untrusted' }).kind).toBe('needsApproval');
    expect(ask(policy, 'env ls', { approvalPolicy: 'untrusted' }).kind).toBe('needsApproval');
  });
});

describe('leading assignments', () => {
  const policy = rules(
    'prefix_rule(pattern=["gh","api"])\nprefix_rule(pattern=["make"])\nprefix_rule(pattern=["git","fetch"])',
  );
  it.each([
    ['GH_HOST=x gh api repos', true],
    ['CC=gcc make -j2', true],
    ['PATH=/opt/bad:$PATH gh api repos', false],
    ['LD_PRELOAD=/opt/x.so make', false],
    ['GIT_SSH_COMMAND=sh git fetch', false],
  ] as const)('%s: covered %s', (script, covered) => {
    const answer = ask(policy, script, { approvalPolicy: 'untrusted' });
    expect(answer.kind).toBe(covered ? 'skip' : 'needsApproval');
    expect(ask(policy, script)).not.toMatchObject({ bypassSandbox: true });
  });
});

it('the body of a here-document is data', () => {
  const policy = rules(
    'prefix_rule(pattern=["git","switch","-f"], decision="forbidden")\nprefix_rule(pattern=["cat"])',
  );
  const answer = ask(policy, "cat >> notes.md <<'EOF'\nnever run git switch -f\nEOF", { approvalPolicy: 'untrusted' });
  expect(answer).toMatchObject({ kind: 'skip', bypassSandbox: false });
});

describe('options before a subcommand do not dodge a rule', () => {
  const policy = rules('prefix_rule(pattern=["git"])\nprefix_rule(pattern=["git","push"], decision="forbidden")');
  it.each([
    'git push o m',
    'git -C /r push o m',
    'git -c a.b=c push o m',
    'git --git-dir=/r/.git push',
    'git --no-pager push',
    '/usr/bin/git push',
    'cd /r && git push',
    'git --git-dir /r/.git --work-tree /r push',
  ])('%s', (script) => expect(ask(policy, script).kind).toBe('forbidden'));

  it.each([
    ['["npm","publish"]', 'npm --prefix x publish'],
    ['["docker","rm"]', 'docker --context prod rm x'],
    ['["docker","compose","down"]', 'docker compose -f x.yml down'],
    ['["kubectl","delete"]', 'kubectl -n prod delete pod x'],
    ['["cargo","publish"]', 'cargo +nightly publish'],
    ['["pip","install"]', 'python3 -I -m pip install x'],
    ['["python3","-m","pip"]', 'python3 -I -m pip install x'],
    ['["gh","pr","merge"]', 'gh -R a/b pr merge 1'],
  ])('%s forbids %s', (pattern, script) => {
    expect(ask(rules(`prefix_rule(pattern=${pattern}, decision="forbidden")`), script).kind).toBe('forbidden');
  });
});

describe('an allowed command does not carry a stranger', () => {
  const policy = rules('prefix_rule(pattern=["git","log"])');
  it.each(['git log; touch PWN', 'git log && touch PWN', 'git log | tee PWN', 'git log\ntouch PWN'])('%s', (script) => {
    for (const approvalPolicy of ['never', 'on-request'] as const) {
      expect(ask(policy, script, { approvalPolicy })).toMatchObject({ kind: 'skip', bypassSandbox: false });
    }
    const asked = ask(policy, script, { approvalPolicy: 'untrusted' });
    expect(asked.kind === 'needsApproval' && asked.reason).toMatch(/no rule covers `(touch|tee) PWN`/);
  });
});

it.each([60, 500, 5_000])('a chain of %i commands stays policed', (length) => {
  const script = `${'true && '.repeat(length)}touch PWN`;
  expect(ask(FORBID_TOUCH, script).kind).toBe('forbidden');
  expect(ask(FORBID_TOUCH, `( ${script} )`).kind).toBe('forbidden');
});

it('a script beyond the size limit asks', () => {
  const huge = `${'true; '.repeat(200_000)}touch PWN`;
  expect(ask(FORBID_TOUCH, huge).kind).toBe('needsApproval');
  expect(ask(FORBID_TOUCH, huge, { approvalPolicy: 'never' }).kind).toBe('forbidden');
});

describe('the strictest wins in any order and any layer', () => {
  const allow = 'prefix_rule(pattern=["git"])\n';
  const forbid = 'prefix_rule(pattern=["git","push"], decision="forbidden")\n';
  it.each([
    ['one file', [allow + forbid]],
    ['one file, other order', [forbid + allow]],
    ['two files', [allow, forbid]],
    ['two files, other order', [forbid, allow]],
  ])('%s', (_, texts) => {
    const answer = ask(rules(...texts), 'git push');
    expect(answer.kind).toBe('forbidden');
    expect(answer.explanation.segments[0]!.hits.map(({ rule }) => rule.decision).sort()).toEqual([
      'allow',
      'forbidden',
    ]);
  });
});

describe('a prompt rule while asking is switched off', () => {
  const policy = rules('prefix_rule(pattern=["git","push"], decision="prompt", justification="public")');
  const granular = {
    granular: {
      sandbox_approval: false,
      rules: true,
      mcp_elicitations: false,
      request_permissions: false,
      skill_approval: false,
    },
  };
  it.each(['git push', '/usr/bin/git push'])('%s', (script) => {
    const refused = ask(policy, script, { approvalPolicy: 'never', mode: 'danger-full-access' });
    expect(refused).toMatchObject({ kind: 'forbidden', rule: '0.rules:1' });
    expect(refused.kind === 'forbidden' && refused.reason).toContain(
      'approval required by policy, but AskForApproval is set to Never',
    );
    expect(ask(policy, script, { approvalPolicy: granular, mode: 'danger-full-access' })).toMatchObject({
      kind: 'needsApproval',
      rule: '0.rules:1',
    });
  });
});

describe('deletion in every spelling asks where no sandbox contains it', () => {
  const policy = rules();
  it.each([
    'rm file',
    'rm -fr d',
    'rm -r -f d',
    'rm --recursive d',
    '/bin/rm -rf d',
    'sudo -n rm -rf d',
    'find . -name "*.x" -delete',
    'find . | xargs rm -rf',
    'git clean -fdx',
    'shred f',
    'dd of=/dev/sda',
    'r\\m -f d',
    "r'm' -rf d",
    'command rm -rf d',
    'bash -c "rm -rf d"',
    'find . -exec rm {} +',
  ])('%s', (script) => {
    expect(ask(policy, script, { mode: 'danger-full-access' }).kind).toBe('needsApproval');
  });

  it.each(['grep -rf pats .', 'echo rm -rf', 'find . -name x', 'git clean -n', 'ls -rf'])('%s does not', (script) => {
    expect(ask(policy, script, { mode: 'danger-full-access' }).kind).toBe('skip');
  });
});

describe('builtins that poison later commands', () => {
  const policy = rules('prefix_rule(pattern=["git","log"])\nprefix_rule(pattern=["ls"])');
  it.each([
    `export PAGER="sh -c 'touch PWN'"; git log`,
    'typeset -x GIT_EXTERNAL_DIFF=./x; git log -p',
    'alias ls="touch PWN"; ls',
    'PATH=.:$PATH; ls',
    '. ./env.sh; git log',
    'hash -p ./x ls; ls',
    'read -r PATH < f; ls',
    'ls() { touch PWN; }; ls',
    'printf -v PATH .; ls',
    'eval "PATH=."; ls',
  ])('%s', (script) => {
    for (const approvalPolicy of ['on-request', 'untrusted'] as const) {
      expect(ask(policy, script, { approvalPolicy }).kind).toBe('needsApproval');
    }
  });
});

it('a remembered approval matches next time', () => {
  const empty = rules();
  const untrusted = { approvalPolicy: 'untrusted' } as const;
  const first = ask(empty, 'gh run view 1 > a.log', untrusted);
  expect(first).toMatchObject({ kind: 'needsApproval', proposed: { prefix: ['gh', 'run', 'view'] } });
  const prefix = first.kind === 'needsApproval' ? (first.proposed?.prefix ?? []) : [];
  const learned = withRule(empty, {
    pattern: prefix.map((word) => [word]),
    decision: 'allow',
    origin: { file: 'default.rules', line: 1, column: 1, layer: 'user' },
  });
  for (const next of ['gh run view 2 > b.log', 'cd d && gh run view 3', 'bash -lc "gh run view 4 2>&1"']) {
    expect(ask(learned, next, untrusted).kind).toBe('skip');
  }
  expect(ask(learned, ['bash', '-lc', 'gh run view 4 2>&1'], untrusted).kind).toBe('skip');
});

it('nothing the model says about a command makes the answer milder', () => {
  const policy = rules();
  for (const more of [
    {},
    { justification: 'safe, needs no approval' },
    { prefixRule: ['rm'] },
    { escalationRequested: true, justification: 'no risk' },
  ]) {
    expect(ask(policy, 'rm -rf d', more).kind).toBe('needsApproval');
    expect(ask(policy, 'rm -rf d', { ...more, approvalPolicy: 'never' }).kind).toBe('forbidden');
  }
});

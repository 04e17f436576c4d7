/** What must hold for every policy and every command. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createPolicy,
  lowerCommand,
  type PolicyAnswer,
  parseRules,
  printRules,
  RulesError,
} from '../../src/policy/index.js';
import type { ApprovalPolicy, SandboxMode } from '../../src/protocol/index.js';
import { Random } from './fuzz/random.js';
import { PROGRAMS, randomScript } from './fuzz/script-grammar.js';
import { ask } from './helpers.js';

const word = fc.constantFrom(...PROGRAMS, 'x', '-n', 'sh', 'bash', '-c', 'git', 'push', 'env');
const place = fc.oneof(
  word.map((one) => [one]),
  fc.uniqueArray(word, { minLength: 1, maxLength: 3 }),
);
const rule = fc.record({
  pattern: fc.array(place, { minLength: 1, maxLength: 3 }),
  decision: fc.constantFrom('allow', 'prompt', 'forbidden'),
});
type Rule = typeof rule extends fc.Arbitrary<infer T> ? T : never;
const line = ({ pattern, decision }: Rule): string =>
  `prefix_rule(pattern=${JSON.stringify(pattern)}, decision="${decision}")\n`;
const script = fc.oneof(
  { weight: 3, arbitrary: fc.integer().map((seed) => randomScript(new Random(seed), 'bash')) },
  { weight: 1, arbitrary: fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => words.join(' ')) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'git -C x push',
      'rm -rf aa',
      '$X aa',
      './aa x',
      'eval "$X"',
      'aa > /etc/x',
      'PATH=. aa',
    ),
  },
);
const granular = (sandbox_approval: boolean, rules: boolean): ApprovalPolicy => ({
  granular: { sandbox_approval, rules, mcp_elicitations: true, request_permissions: true, skill_approval: true },
});
const circumstances = fc.record({
  approvalPolicy: fc.constantFrom<ApprovalPolicy>(
    'untrusted',
    'on-request',
    'never',
    granular(true, true),
    granular(false, true),
    granular(true, false),
    granular(false, false),
  ),
  mode: fc.constantFrom<SandboxMode>('read-only', 'workspace-write', 'danger-full-access'),
  escalationRequested: fc.boolean(),
  knownSafeCommands: fc.boolean(),
});

/** Outside the sandbox, inside it, asked, refused. */
function strictness(answer: PolicyAnswer): number {
  if (answer.kind === 'forbidden') return 3;
  if (answer.kind === 'needsApproval') return 2;
  return answer.bypassSandbox ? 0 : 1;
}

const policyOf = (...texts: readonly string[]) =>
  createPolicy(texts.map((text, i) => parseRules(text, { file: `${i}.rules` })));

describe('decisions', () => {
  it('a rule that asks or forbids never makes an answer milder', () => {
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 6 }), rule, script, circumstances, (rules, extra, command, how) => {
        const added = { ...extra, decision: extra.decision === 'allow' ? 'prompt' : extra.decision };
        const before = ask(policyOf(rules.map(line).join('')), command, how);
        const after = ask(policyOf(rules.map(line).join('') + line(added)), command, how);
        expect(strictness(after)).toBeGreaterThanOrEqual(strictness(before));
      }),
      { numRuns: 2_000 },
    );
  });

  it('neither the order of rules nor their files matter', () => {
    fc.assert(
      fc.property(
        fc.array(rule, { minLength: 1, maxLength: 6 }),
        fc.infiniteStream(fc.nat(1_000)),
        script,
        circumstances,
        (rules, order, command, how) => {
          const shuffled = rules.map((one) => ({ one, at: order.next().value as number })).sort((a, b) => a.at - b.at);
          const together = ask(policyOf(rules.map(line).join('')), command, how);
          const apart = ask(policyOf(...shuffled.map(({ one }) => line(one))), command, how);
          expect(strictness(apart)).toBe(strictness(together));
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('escalation and the wishes of the model never make an answer milder than asking', () => {
    fc.assert(
      fc.property(
        fc.array(rule, { maxLength: 4 }),
        script,
        circumstances,
        fc.array(word, { maxLength: 3 }),
        (rules, command, how, prefixRule) => {
          const policy = policyOf(rules.map(line).join(''));
          const plain = ask(policy, command, { ...how, escalationRequested: false });
          const wished = ask(policy, command, {
            ...how,
            escalationRequested: true,
            prefixRule,
            justification: 'harmless',
          });
          expect(strictness(wished)).toBeGreaterThanOrEqual(strictness(plain));
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('a proposed rule is never a whole interpreter or a whole script', () => {
    fc.assert(
      fc.property(script, circumstances, (command, how) => {
        const answer = ask(policyOf(''), command, how);
        const proposed = answer.kind === 'forbidden' ? undefined : answer.proposed?.prefix;
        if (!proposed) return;
        expect(proposed).not.toEqual([expect.stringMatching(/^(sh|bash|env|git)$/)]);
        expect(proposed.slice(0, 2).join(' ')).not.toMatch(/^(\S*\/)?(ba|da)?sh -\w*c$/);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('lowering', () => {
  it('the strict and the tolerant pass read a plain script alike', () => {
    const piece = fc.constantFrom(
      ...PROGRAMS,
      'x',
      '-n',
      "'a b'",
      '"c d"',
      'k=v',
      "e'f'",
      '""',
      'é',
      '12',
      '@',
      '%s',
      "'$(aa)'",
      '"*"',
    );
    const command = fc
      .tuple(fc.constantFrom(...PROGRAMS), fc.array(piece, { maxLength: 4 }))
      .map(([name, words]) => [name, ...words].join(' '));
    const operator = fc.constantFrom(' && ', ' || ', '; ', '\n', ' | ', ';', '&&');
    const plain = fc
      .array(fc.tuple(command, operator), { minLength: 1, maxLength: 5 })
      .map((items) => items.map(([text, after], i) => text + (i < items.length - 1 ? after : '')).join(''));
    fc.assert(
      fc.property(plain, (text) => {
        const strict = lowerCommand(['bash', '-c', text], { cwd: '/' });
        const tolerant = lowerCommand(['bash', '-c', `{ ${text}\n}`], { cwd: '/' });
        expect(strict.plain).toBe(true);
        expect(tolerant.unknown).toEqual([]);
        expect(tolerant.segments.map(({ argv }) => argv)).toEqual(strict.segments.map(({ argv }) => argv));
      }),
      { numRuns: 2_000 },
    );
  });

  it('never throws, whatever the text', () => {
    const noise = fc.array(
      fc.constantFrom(
        ...'\'"\\$(){}<>&|;# \n\r\0`*!=[]~azfi019,:-+@%/',
        'if',
        'then',
        'fi',
        '<<E',
        '$((',
        '))',
        'for ',
        ' in ',
      ),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(noise, fc.constantFrom('bash', 'sh', 'zsh'), (pieces, shell) => {
        const lowered = lowerCommand([shell, '-c', pieces.join('')], { cwd: '/w' });
        expect(lowered.segments.length + lowered.unknown.length).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 3_000 },
    );
  });
});

describe('rules files', () => {
  const text = fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' });
  const full = fc.record({
    pattern: fc.array(fc.array(text, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 }),
    decision: fc.constantFrom('allow' as const, 'prompt' as const, 'forbidden' as const),
    justification: fc.option(
      text.filter((one) => one.trim() !== ''),
      { nil: undefined },
    ),
  });

  it('what is printed reads back the same', () => {
    fc.assert(
      fc.property(fc.array(full, { maxLength: 6 }), (made) => {
        const rules = made.map(({ justification, ...more }, i) => ({
          ...more,
          ...(justification === undefined ? {} : { justification }),
          origin: { file: 'f', line: i + 1, column: 1, layer: 'user' as const },
        }));
        const printed = printRules({ rules, network: [], hosts: [], examples: [] });
        expect(parseRules(printed, { file: 'f' }).rules).toEqual(rules);
      }),
      { numRuns: 1_000 },
    );
  });

  it('any text parses or fails with file, line and column', () => {
    const noise = fc.array(
      fc.constantFrom(
        'prefix_rule(',
        'pattern=',
        '["a", ',
        '"b"]',
        ')',
        '\n',
        '    ',
        'for x in ',
        'range(9)',
        ':',
        'def f(',
        'x',
        'if ',
        'else',
        ' + ',
        '* 99',
        '[',
        ']',
        '{',
        '}',
        'f"{',
        '}"',
        "'",
        '"',
        '#',
        ';',
        ',',
        'lambda ',
        'not ',
        '-',
        '1',
        '.upper()',
        'return ',
        '\\',
        '\t',
        'é',
      ),
      { maxLength: 25 },
    );
    fc.assert(
      fc.property(noise, (pieces) => {
        try {
          parseRules(pieces.join(''), { file: 'n.rules' });
        } catch (error) {
          expect(error).toBeInstanceOf(RulesError);
          expect((error as Error).message).toMatch(/^n\.rules:\d+:\d+: [a-z_]+: /);
        }
      }),
      { numRuns: 5_000 },
    );
  });

  it.each([
    [
      'steps',
      'def f(n):\n    for i in range(1000):\n        for j in range(1000):\n            for k in range(1000):\n                pass\nf(1)\n',
    ],
    ['string size', 'x = "a"\nfor i in range(60):\n    x = x + x\n'],
    ['list size', 'x = [1]\nfor i in range(60):\n    x = x + x\n'],
    ['repetition', 'x = "a" * 999999999\n'],
    ['rules', 'for i in range(200000):\n    prefix_rule(pattern=["a", str(i)])\n'],
    ['nesting of text', `x = ${'('.repeat(5_000)}1${')'.repeat(5_000)}\n`],
    ['nesting of calls', 'def f(n):\n    return [f(n + 1)]\nf(0)\n'],
    ['nesting of values', 'x = []\nfor i in range(100000):\n    x = [x]\ny = repr(x)\n'],
    ['integers', 'x = 2\nfor i in range(10):\n    x = x * x\n'],
  ])('a hostile file ends soon: %s', (_, hostile) => {
    try {
      parseRules(hostile);
    } catch (error) {
      expect(error).toBeInstanceOf(RulesError);
      expect(['limit', 'recursion']).toContain((error as RulesError).kind);
    }
  });
});

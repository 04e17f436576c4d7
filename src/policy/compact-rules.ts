/**
 * Fewer lines for the same decisions: a learned rule that a wider one covers goes, rules that differ in one word become
 * one rule with alternatives. The result is compared with the original on a table of cases before it is offered.
 */
import { checkCommand } from './check.js';
import { covers } from './lint-rules.js';
import { createPolicy } from './policy.js';
import type { PrefixRule, RuleFile } from './rules/rule.js';

export interface Compacted {
  readonly rules: readonly PrefixRule[];
  /** Rules that went or were merged. */
  readonly replaced: readonly PrefixRule[];
  /** Cases on which both rule sets were compared; all agreed. */
  readonly cases: number;
}

/** Merges `allow` rules without justification; everything else is kept as it stands. */
export function compactRules(rules: readonly PrefixRule[], moreCases: readonly (readonly string[])[] = []): Compacted {
  const plain = rules.filter((rule) => rule.decision === 'allow' && rule.justification === undefined);
  const merged = mergeAll(withoutCovered(plain));
  const kept = new Set(merged);
  const out = [
    ...rules.filter((rule) => !plain.includes(rule) || kept.has(rule)),
    ...merged.filter((rule) => !rules.includes(rule)),
  ];
  const cases = [...casesFor(rules), ...moreCases];
  const wrong = cases.find((words) => decision(rules, words) !== decision(out, words));
  // Cannot happen while the two steps above are right; a user's rules are no place to find out.
  if (wrong) return { rules, replaced: [], cases: cases.length };
  return { rules: out, replaced: rules.filter((rule) => !out.includes(rule)), cases: cases.length };
}

function withoutCovered(rules: readonly PrefixRule[]): readonly PrefixRule[] {
  const kept: PrefixRule[] = [];
  for (const [i, rule] of rules.entries()) {
    const byOther = rules.some((other, j) => j !== i && covers(other, rule) && (!covers(rule, other) || j < i));
    if (!byOther) kept.push(rule);
  }
  return kept;
}

/** Joins two rules that differ in exactly one place, again and again. */
function mergeAll(rules: readonly PrefixRule[]): readonly PrefixRule[] {
  let current = [...rules];
  for (let place = 0; current.some((rule) => rule.pattern.length > place); place++) {
    const groups = new Map<string, PrefixRule[]>();
    for (const rule of current) {
      const rest = rule.pattern.map((words, i) => (i === place ? '*' : JSON.stringify(words)));
      const key = `${rule.pattern.length}:${rest.join(',')}`;
      groups.set(key, [...(groups.get(key) ?? []), rule]);
    }
    current = [...groups.values()].map((group) => (group.length === 1 ? group[0]! : join(group, place)));
  }
  return current;
}

function join(group: readonly PrefixRule[], place: number): PrefixRule {
  const [first] = group as readonly [PrefixRule, ...PrefixRule[]];
  const words = [...new Set(group.flatMap((rule) => rule.pattern[place] ?? []))];
  return { ...first, pattern: first.pattern.map((old, i) => (i === place ? words : old)) };
}

/** Every prefix of every rule, one word longer, one word changed, and words of other rules in its place. */
function casesFor(rules: readonly PrefixRule[]): readonly (readonly string[])[] {
  const wordsAt = new Map<number, Set<string>>();
  for (const rule of rules) {
    for (const [i, words] of rule.pattern.entries()) {
      const seen = wordsAt.get(i) ?? new Set<string>();
      for (const word of words) seen.add(word);
      wordsAt.set(i, seen);
    }
  }
  const cases = new Map<string, readonly string[]>();
  const add = (words: readonly string[]) => cases.set(JSON.stringify(words), words);
  for (const rule of rules) {
    const base = rule.pattern.map((words) => words[0]!);
    for (const words of [base, [...base, 'x'], base.slice(0, -1), [...base, ...base]]) add(words);
    for (const [i] of base.entries()) {
      for (const other of ['other', ...[...(wordsAt.get(i) ?? [])].slice(0, 50)]) add(base.with(i, other));
    }
  }
  return [...cases.values()];
}

function decision(rules: readonly PrefixRule[], words: readonly string[]): string | undefined {
  return checkCommand(policyOf(rules), words, { resolveHostExecutables: false, cwd: '/' }).decision;
}

const POLICIES = new WeakMap<readonly PrefixRule[], ReturnType<typeof createPolicy>>();

function policyOf(rules: readonly PrefixRule[]): ReturnType<typeof createPolicy> {
  let policy = POLICIES.get(rules);
  if (!policy) {
    const file: RuleFile = { file: 'rules', layer: 'user', rules, network: [], hosts: [], examples: [] };
    POLICIES.set(rules, (policy = createPolicy([file])));
  }
  return policy;
}

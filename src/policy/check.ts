/** `execpolicy check`: the rules against an argv as it is given. Contract of Codex 0.171: no lowering, no heuristics. */
import type { Policy } from './policy.js';
import { type PrefixRule, type RuleDecision, STRICTNESS } from './rules/rule.js';
import { hostCommand } from './rules/rule-match.js';

export interface CheckResult {
  readonly matchedRules: readonly { readonly prefixRuleMatch: CheckMatch }[];
  readonly decision?: RuleDecision;
}

export interface CheckMatch {
  readonly matchedPrefix: readonly string[];
  readonly decision: RuleDecision;
  readonly resolvedProgram?: string;
  readonly justification?: string;
}

export function checkCommand(
  policy: Policy,
  argv: readonly string[],
  options: { readonly resolveHostExecutables: boolean; readonly cwd: string },
): CheckResult {
  const exact = policy.index.lookup(argv);
  const via =
    exact.length === 0 && options.resolveHostExecutables
      ? hostCommand(argv, { hosts: policy.hosts, cwd: options.cwd })
      : undefined;
  const rules = via ? policy.index.lookup(via.words) : exact;
  const words = via?.words ?? argv;
  if (rules.length === 0) return { matchedRules: [] };
  return {
    matchedRules: rules.map((rule) => ({ prefixRuleMatch: matchOf(rule, words, via?.program) })),
    decision: rules
      .map((rule) => rule.decision)
      .reduce((worst, next) => (STRICTNESS[next] > STRICTNESS[worst] ? next : worst)),
  };
}

function matchOf(rule: PrefixRule, words: readonly string[], program: string | undefined): CheckMatch {
  return {
    matchedPrefix: words.slice(0, rule.pattern.length),
    decision: rule.decision,
    ...(program === undefined ? {} : { resolvedProgram: program }),
    ...(rule.justification === undefined ? {} : { justification: rule.justification }),
  };
}

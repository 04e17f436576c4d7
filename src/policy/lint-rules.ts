/** Rules that do not do what they seem to: doubled, contradicted, without effect, or wider than anyone means. */
import type { Policy } from './policy.js';
import { isTooBroad } from './propose-amendment.js';
import { printPattern } from './rules/parse-rules.js';
import { type PrefixRule, ruleName, STRICTNESS } from './rules/rule.js';

export type LintKind =
  /** The same pattern and decision twice. */
  | 'duplicate'
  /** A wider rule of the same decision already says it. */
  | 'shadowed'
  /** The same pattern with different decisions: the strictest wins. */
  | 'conflict'
  /** It can never decide anything. */
  | 'dead'
  /** It allows whatever a program can be told to do. */
  | 'too-broad';

export interface LintFinding {
  readonly kind: LintKind;
  readonly rule: PrefixRule;
  /** The other rule, where two are involved. */
  readonly other?: PrefixRule;
  /** One sentence. */
  readonly message: string;
}

export function lintRules(policy: Policy): readonly LintFinding[] {
  const rules = policy.files.flatMap((file) => file.rules);
  const order = new Map(rules.map((rule, i) => [rule, i]));
  return rules.flatMap((rule) => [...lintOne(rule), ...lintAgainst(rule, policy, order)]);
}

function lintOne(rule: PrefixRule): LintFinding[] {
  const found: LintFinding[] = [];
  const spaced = rule.pattern[0]!.filter((word) => /\s/.test(word));
  if (spaced.length > 0 && spaced.length === rule.pattern[0]!.length) {
    const message = `no program is named ${JSON.stringify(spaced[0])}: a pattern lists one word per element`;
    found.push({ kind: 'dead', rule, message });
  }
  const broad = rule.decision === 'allow' ? broadPrefix(rule) : undefined;
  if (broad) {
    const message = `allowing \`${broad.join(' ')}\` allows whatever it can be told to run, outside the sandbox`;
    found.push({ kind: 'too-broad', rule, message });
  }
  return found;
}

function broadPrefix(rule: PrefixRule): readonly string[] | undefined {
  if (rule.pattern.length > 2) return undefined;
  const [programs = [], seconds] = rule.pattern;
  const prefixes = programs.flatMap((program) => (seconds ? seconds.map((second) => [program, second]) : [[program]]));
  return prefixes.find(isTooBroad);
}

function lintAgainst(rule: PrefixRule, policy: Policy, order: ReadonlyMap<PrefixRule, number>): LintFinding[] {
  const place = order.get(rule)!;
  const others = policy.index
    .startingWith(rule.pattern[0]![0]!)
    .filter((other) => other !== rule && covers(other, rule));
  const twin = others.find((other) => covers(rule, other) && order.get(other)! < place);
  if (twin)
    return [twin.decision === rule.decision ? finding('duplicate', rule, twin) : finding('conflict', rule, twin)];
  const wider = others.filter((other) => !covers(rule, other));
  const stricter = wider.find((other) => STRICTNESS[other.decision] > STRICTNESS[rule.decision]);
  if (stricter) return [finding('dead', rule, stricter)];
  const same = wider.find((other) => other.decision === rule.decision && rule.justification === undefined);
  return same ? [finding('shadowed', rule, same)] : [];
}

/** Does `a` match every command that `b` matches? */
export function covers(a: Pick<PrefixRule, 'pattern'>, b: Pick<PrefixRule, 'pattern'>): boolean {
  return (
    a.pattern.length <= b.pattern.length &&
    a.pattern.every((words, i) => b.pattern[i]!.every((word) => words.includes(word)))
  );
}

function finding(
  kind: 'duplicate' | 'shadowed' | 'conflict' | 'dead',
  rule: PrefixRule,
  other: PrefixRule,
): LintFinding {
  const that = `${printPattern(other.pattern)} (${other.decision}) at ${ruleName(other.origin)}`;
  const message = {
    duplicate: `the same rule is at ${ruleName(other.origin)}`,
    shadowed: `${that} already says it`,
    conflict: `${that} says something else; the strictest wins`,
    dead: `${that} is stricter and matches everything this rule matches`,
  }[kind];
  return { kind, rule, other, message };
}

/**
 * Rules against one segment. What restricts is looked for in every reading of the words: the base name of any path, the
 * words behind global options, words known only at run time. What allows must fit the words as they stand, and a path
 * earns the allow of a bare name only where nobody but the system puts programs.
 */
import type { Segment, SegmentWord } from './lower/segment.js';
import type { Policy } from './policy.js';
import type { PrefixRule, RuleDecision } from './rules/rule.js';
import { STRICTNESS } from './rules/rule.js';
import { baseName, normalizePath } from './rules/rule-functions.js';
import { readings } from './subcommands.js';

/** How a rule came to fit. */
export type HitHow =
  /** The words themselves. */
  | 'words'
  /** The base name of a path. */
  | 'path'
  /** Past options in front of the subcommand. */
  | 'options'
  /** Words known only at run time may make it fit. */
  | 'possible';

export interface RuleHit {
  readonly rule: PrefixRule;
  readonly how: HitHow;
  /** The segment's words under the pattern. */
  readonly prefix: readonly string[];
  /** Why an `allow` does not count here. */
  readonly void?: string;
  /** The program is a file of the rule's name in a place where anyone may put one. */
  readonly impostor?: true;
}

export interface MatchFacts {
  readonly cwd: string;
  /** Where PATH finds a program, outside every writable root; undefined when unknown or writable. */
  readonly programPath?: (name: string) => string | undefined;
}

/** All rules that say something about a segment, in file order within each way of fitting. */
export function matchSegment(policy: Policy, segment: Segment, facts: MatchFacts): readonly RuleHit[] {
  if (policy.index.size === 0) return [];
  const hits: RuleHit[] = [];
  if (segment.argv) for (const hit of allowing(policy, segment, segment.argv, facts)) hits.push(hit);
  for (const hit of restricting(policy, segment.words)) hits.push(hit);
  return hits;
}

/** The strictest of what counts, or undefined when no rule speaks. */
export function strictest(hits: readonly RuleHit[]): RuleDecision | undefined {
  let worst: RuleDecision | undefined;
  for (const { rule, void: empty } of hits) {
    if (empty === undefined && (worst === undefined || STRICTNESS[rule.decision] > STRICTNESS[worst]))
      worst = rule.decision;
  }
  return worst;
}

function allowing(policy: Policy, segment: Segment, argv: readonly string[], facts: MatchFacts): readonly RuleHit[] {
  const exact = policy.index.lookup(argv).filter((rule) => rule.decision === 'allow');
  if (exact.length > 0) {
    return exact.map((rule) => hit(policy, rule, argv, 'words', segment.taint));
  }
  const name = argv[0] ?? '';
  const base = name.includes('/') ? baseName(name) : '';
  if (base === '') return [];
  const words = [base, ...argv.slice(1)];
  const rules = policy.index.lookup(words).filter((rule) => rule.decision === 'allow');
  if (rules.length === 0) return [];
  if (standsFor(policy, base, name, facts)) return rules.map((rule) => hit(policy, rule, words, 'path', segment.taint));
  const why = `\`${name}\` may not stand for the \`${base}\` that a rule allows`;
  // With a list of paths in force, a path beside it is simply another program.
  const impostor = policy.hosts.has(base) ? {} : { impostor: true as const };
  return rules.map((rule) => ({ ...hit(policy, rule, words, 'path', why), ...impostor }));
}

function standsFor(policy: Policy, base: string, name: string, facts: MatchFacts): boolean {
  const path = normalizePath(name.startsWith('/') ? name : `${facts.cwd}/${name}`);
  const listed = policy.hosts.get(base);
  if (listed) return listed.includes(path);
  return (
    policy.trustedDirectories.some((directory) => path === `${directory}/${base}`) || facts.programPath?.(base) === path
  );
}

function hit(policy: Policy, rule: PrefixRule, words: readonly SegmentWord[], how: HitHow, empty?: string): RuleHit {
  const prefix = words.slice(0, rule.pattern.length).map((word) => (typeof word === 'string' ? word : word.text));
  const why =
    empty ??
    (rule.decision === 'allow' && policy.unconfirmed.has(rule.origin.file)
      ? 'its file waits for confirmation'
      : undefined);
  return { rule, how, prefix, ...(why === undefined || rule.decision !== 'allow' ? {} : { void: why }) };
}

function restricting(policy: Policy, words: readonly SegmentWord[]): readonly RuleHit[] {
  if (!policy.restricts) return [];
  const [name] = words;
  if (typeof name !== 'string') return [];
  const found = new Map<PrefixRule, RuleHit>();
  const look = (variant: readonly SegmentWord[], how: HitHow) => {
    const known = knownPrefix(variant);
    for (const rule of policy.index.lookup(known)) {
      if (rule.decision !== 'allow' && !found.has(rule)) found.set(rule, hit(policy, rule, variant, how));
    }
    if (known.length === variant.length) return;
    for (const rule of policy.index.startingWith(known[0] ?? '')) {
      const fits = rule.decision !== 'allow' && !found.has(rule) && couldMatch(rule.pattern, variant, 0, 0);
      if (fits) found.set(rule, hit(policy, rule, variant, 'possible'));
    }
  };
  look(words, 'words');
  const base = name.includes('/') ? baseName(name) : name;
  const plain = base === name || base === '' ? words : [base, ...words.slice(1)];
  if (plain !== words) look(plain, 'path');
  const [program = ''] = knownPrefix(plain);
  if (policy.index.startingWith(program).length > 0 || /^(python|pypy)/.test(program)) {
    for (const variant of readings(plain)) look(variant, 'options');
  }
  return [...found.values()];
}

function knownPrefix(words: readonly SegmentWord[]): readonly string[] {
  const end = words.findIndex((word) => typeof word !== 'string');
  return (end === -1 ? words : words.slice(0, end)) as readonly string[];
}

/** Could the unknown words turn out so that the pattern fits? */
function couldMatch(pattern: PrefixRule['pattern'], words: readonly SegmentWord[], at: number, from: number): boolean {
  if (at === pattern.length) return true;
  const word = words[from];
  if (word === undefined) return false;
  if (typeof word === 'string') return pattern[at]!.includes(word) && couldMatch(pattern, words, at + 1, from + 1);
  if (!word.many) return couldMatch(pattern, words, at + 1, from + 1);
  return couldMatch(pattern, words, at, from + 1) || couldMatch(pattern, words, at + 1, from);
}

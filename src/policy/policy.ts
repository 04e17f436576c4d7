/** A policy: every rule in force, ready to be asked. Immutable; a changed file makes a new one. */

import { textHash } from './fingerprint.js';
import { MatchIndex } from './match-index.js';
import { hostTable } from './rules/parse-rules.js';
import type { NetworkRule, PrefixRule, RuleFile } from './rules/rule.js';
import type { RulesError } from './rules/rule-error.js';

export interface PolicyOptions {
  /** Files that could not be used. Their presence turns the session to "ask unless allowed". */
  readonly broken?: readonly RulesError[];
  /** Files whose `allow` rules wait for a person's confirmation; they may restrict at once. */
  readonly unconfirmed?: ReadonlySet<string>;
  /** Directories, beside the system's, from which a path may earn the `allow` of a bare name. */
  readonly trustedDirectories?: readonly string[];
}

export interface Policy {
  readonly files: readonly RuleFile[];
  readonly broken: readonly RulesError[];
  readonly index: MatchIndex;
  /** Allowed paths per program name. */
  readonly hosts: ReadonlyMap<string, readonly string[]>;
  readonly network: readonly NetworkRule[];
  /** Directories from which a path may stand for a bare name. */
  readonly trustedDirectories: readonly string[];
  /** Some rule asks or forbids; then a command that cannot be understood may not run unasked. */
  readonly restricts: boolean;
  readonly unconfirmed: ReadonlySet<string>;
  /** Changes when any rule in force changes. */
  readonly fingerprint: string;
}

const SYSTEM_DIRECTORIES = ['/bin', '/sbin', '/usr/bin', '/usr/sbin', '/usr/local/bin'];

export function createPolicy(files: readonly RuleFile[], options: PolicyOptions = {}): Policy {
  const rules = files.flatMap((file) => file.rules);
  const broken = options.broken ?? [];
  const unconfirmed = options.unconfirmed ?? new Set<string>();
  return {
    files,
    broken,
    index: new MatchIndex(rules),
    hosts: hostTable(files.flatMap((file) => file.hosts)),
    network: files.flatMap((file) => file.network),
    trustedDirectories: [...SYSTEM_DIRECTORIES, ...(options.trustedDirectories ?? [])],
    restricts: rules.some((rule) => rule.decision !== 'allow'),
    unconfirmed,
    fingerprint: fingerprintOf(files, broken, unconfirmed),
  };
}

/** The same policy with one more rule, as an approval teaches it. */
export function withRule(policy: Policy, rule: PrefixRule): Policy {
  const learned: RuleFile = {
    file: rule.origin.file,
    layer: rule.origin.layer,
    rules: [rule],
    network: [],
    hosts: [],
    examples: [],
  };
  return createPolicy([...policy.files, learned], {
    broken: policy.broken,
    unconfirmed: policy.unconfirmed,
    trustedDirectories: policy.trustedDirectories.slice(SYSTEM_DIRECTORIES.length),
  });
}

/** Hosts for the sandbox's proxy: the later rule wins per host; `prompt` says nothing. */
export function networkLists(policy: Policy): { readonly allow: readonly string[]; readonly deny: readonly string[] } {
  const last = new Map(policy.network.map(({ host, decision }) => [host, decision]));
  const of = (decision: string) => [...last].filter(([, value]) => value === decision).map(([host]) => host);
  return { allow: of('allow'), deny: of('forbidden') };
}

function fingerprintOf(
  files: readonly RuleFile[],
  broken: readonly RulesError[],
  unconfirmed: ReadonlySet<string>,
): string {
  const facts = {
    rules: files.flatMap(({ rules }) => rules.map((rule) => [rule.pattern, rule.decision, rule.justification ?? null])),
    hosts: files.flatMap(({ hosts }) => hosts.map(({ name, paths }) => [name, paths])),
    network: files.flatMap(({ network }) => network.map(({ host, protocol, decision }) => [host, protocol, decision])),
    broken: broken.map((error) => error.message),
    unconfirmed: [...unconfirmed].sort(),
  };
  return textHash(JSON.stringify(facts));
}

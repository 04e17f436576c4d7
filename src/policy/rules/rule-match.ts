/** One rule against one command, by exact words or through the program's base name. */
import type { PrefixRule } from './rule.js';
import { baseName, normalizePath } from './rule-functions.js';

export interface HostContext {
  /** Paths that may stand for a name; a name without an entry is resolved for any path. */
  readonly hosts: ReadonlyMap<string, readonly string[]>;
  /** Absolute; a relative program is seen from here. */
  readonly cwd: string;
}

/** How a rule fits: the command's own words under its pattern, and the path when the base name was compared. */
export interface PrefixMatch {
  readonly prefix: readonly string[];
  readonly resolvedProgram?: string;
}

export function matchesRule(rule: PrefixRule, words: readonly string[], host: HostContext): PrefixMatch | undefined {
  const exact = matchesPattern(rule.pattern, words);
  if (exact) return { prefix: words.slice(0, rule.pattern.length) };
  const via = hostCommand(words, host);
  if (!via || !matchesPattern(rule.pattern, via.words)) return undefined;
  return { prefix: via.words.slice(0, rule.pattern.length), resolvedProgram: via.program };
}

export function matchesPattern(pattern: PrefixRule['pattern'], words: readonly string[]): boolean {
  return words.length >= pattern.length && pattern.every((alternatives, i) => alternatives.includes(words[i]!));
}

/** The command with its program replaced by the base name, when its path may stand for that name (Codex 0.171). */
export function hostCommand(
  words: readonly string[],
  { hosts, cwd }: HostContext,
): { readonly words: readonly string[]; readonly program: string } | undefined {
  const [name] = words;
  // A bare name is its own base name: the exact comparison has seen it.
  if (name === undefined || !name.includes('/')) return undefined;
  const base = baseName(name);
  if (base === '') return undefined;
  const program = normalizePath(name.startsWith('/') ? name : `${cwd}/${name}`);
  const listed = hosts.get(base);
  if (listed && !listed.includes(program)) return undefined;
  return { words: [base, ...words.slice(1)], program };
}

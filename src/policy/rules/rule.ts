/** What a rules file declares. */
import type { SourcePosition } from './rule-error.js';

/** A rule's verdict; the strictest of all matches wins. */
export type RuleDecision = 'allow' | 'prompt' | 'forbidden';
export const STRICTNESS: Readonly<Record<RuleDecision, number>> = { allow: 0, prompt: 1, forbidden: 2 };

/** Where a rule comes from, low to high. Precedence does not exist between them: the strictest wins. */
export type RuleLayer = 'system' | 'user' | 'project' | 'managed' | 'session';

export interface RuleOrigin extends SourcePosition {
  readonly layer: RuleLayer;
}

/** Commands whose words start with `pattern`. Each place lists the words that fit there. */
export interface PrefixRule {
  readonly pattern: readonly (readonly string[])[];
  readonly decision: RuleDecision;
  readonly justification?: string;
  readonly origin: RuleOrigin;
}

export type NetworkProtocol = 'http' | 'https' | 'socks5_tcp' | 'socks5_udp';

/** Never matches a command; the sandbox's proxy reads it. */
export interface NetworkRule {
  readonly host: string;
  readonly protocol: NetworkProtocol;
  readonly decision: RuleDecision;
  readonly justification?: string;
  readonly origin: RuleOrigin;
}

/** The only paths that may stand for a bare program name. An empty list means: none. */
export interface HostExecutable {
  readonly name: string;
  readonly paths: readonly string[];
  readonly origin: RuleOrigin;
}

/** One example of a `match` or `not_match` list, split into words. */
export interface RuleExamples {
  readonly rule: PrefixRule;
  readonly match: readonly (readonly string[])[];
  readonly notMatch: readonly (readonly string[])[];
}

/** A file that parsed. */
export interface RuleFile {
  readonly file: string;
  readonly layer: RuleLayer;
  readonly rules: readonly PrefixRule[];
  readonly network: readonly NetworkRule[];
  readonly hosts: readonly HostExecutable[];
  readonly examples: readonly RuleExamples[];
}

/** `rules/default.rules:12`, as reasons and explanations name a rule. */
export function ruleName(origin: RuleOrigin): string {
  return `${origin.file}:${origin.line}`;
}

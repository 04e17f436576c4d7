/** Sentences about a decision, for the model and for a person. */
import type { RuleHit } from './match-segment.js';
import { ruleName } from './rules/rule.js';
import { joinWords } from './rules/words.js';

const MAX_QUOTED = 2_000;

export function quoteCommand(argv: readonly string[]): string {
  const text = joinWords(argv);
  return text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text;
}

/** `` `CMD` rejected: why (default.rules:3) ``. */
export function forbiddenReason(argv: readonly string[], hit: RuleHit): string {
  const why = hit.rule.justification ?? `policy forbids commands starting with \`${joinWords(hit.prefix)}\``;
  return `\`${quoteCommand(argv)}\` rejected: ${why} (${ruleName(hit.rule.origin)})`;
}

export function promptReason(argv: readonly string[], hit: RuleHit): string {
  const command = `\`${quoteCommand(argv)}\` requires approval`;
  if (hit.how === 'possible') {
    const about = hit.rule.justification ?? `\`${joinWords(hit.prefix)}\``;
    return `${command}: a rule may apply once its words are known: ${about} (${ruleName(hit.rule.origin)})`;
  }
  return hit.rule.justification === undefined ? `${command} by policy` : `${command}: ${hit.rule.justification}`;
}

/** Codex 0.171. */
export const FORCED_RM = 'rm -f style commands are not permitted. Use a safer approach';
export const BLOCKED = 'blocked by policy';

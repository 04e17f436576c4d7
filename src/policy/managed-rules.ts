/** The `[rules]` table of `requirements.toml`: rules nobody below can loosen. */
import { TurnwrightError } from '../protocol/index.js';
import type { PrefixRule, RuleFile } from './rules/rule.js';

/**
 * Reads `{ prefix_rules: [{ pattern: [{ token } | { any_of }], decision, justification? }] }`. A managed rule may ask or
 * forbid, never allow (Codex 0.171). `prompt-user` is a prompt that only a person may answer.
 */
export function managedRules(table: unknown, file: string): RuleFile {
  const list = isRecord(table) ? (table['prefix_rules'] ?? []) : [];
  if (!Array.isArray(list)) throw wrong(file, 'rules.prefix_rules must be a list');
  const rules = list.map((item, i) => managedRule(item, file, `rules.prefix_rules[${i}]`));
  return { file, layer: 'managed', rules, network: [], hosts: [], examples: [] };
}

function managedRule(item: unknown, file: string, at: string): PrefixRule {
  if (!isRecord(item) || !Array.isArray(item['pattern']) || item['pattern'].length === 0) {
    throw wrong(file, `${at}.pattern must be a non-empty list`);
  }
  const { decision, justification } = item;
  if (decision !== 'prompt' && decision !== 'prompt-user' && decision !== 'forbidden') {
    throw wrong(file, `${at}.decision must be prompt, prompt-user or forbidden`);
  }
  if (justification !== undefined && (typeof justification !== 'string' || justification.trim() === '')) {
    throw wrong(file, `${at}.justification must be a text that says something`);
  }
  return {
    pattern: item['pattern'].map((place, i) => managedPlace(place, file, `${at}.pattern[${i}]`)),
    decision: decision === 'forbidden' ? 'forbidden' : 'prompt',
    ...(justification === undefined ? {} : { justification }),
    origin: { file, line: 1, column: 1, layer: 'managed' },
  };
}

function managedPlace(place: unknown, file: string, at: string): readonly string[] {
  const words = isRecord(place) ? (place['any_of'] ?? [place['token']]) : [place];
  if (!Array.isArray(words) || words.length === 0 || !words.every((word) => typeof word === 'string')) {
    throw wrong(file, `${at} must be { token = "word" } or { any_of = ["word", …] }`);
  }
  return words;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wrong(file: string, why: string): TurnwrightError {
  return new TurnwrightError('TW_CONFIG_VALUE', `${file}: ${why}`, { facts: { file } });
}

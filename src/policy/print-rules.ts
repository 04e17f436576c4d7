/** Rules back to text: what `parseRules` reads gives the same rules again. */
import { printPattern } from './rules/parse-rules.js';
import type { HostExecutable, NetworkRule, PrefixRule, RuleFile } from './rules/rule.js';

/** One line, as an approval is remembered (Codex 0.171 writes the same bytes). */
export function printLearnedRule(prefix: readonly string[], decision: PrefixRule['decision'] = 'allow'): string {
  return `prefix_rule(pattern=${printPattern(prefix.map((word) => [word]))}, decision="${decision}")`;
}

export function printRules(file: Pick<RuleFile, 'rules' | 'network' | 'hosts' | 'examples'>): string {
  const examples = new Map(file.examples.map((item) => [item.rule, item]));
  const lines = [
    ...file.hosts.map(printHost),
    ...file.network.map(printNetwork),
    ...file.rules.map((rule) => {
      const { match = [], notMatch = [] } = examples.get(rule) ?? {};
      const list = (name: string, items: readonly (readonly string[])[]) =>
        items.length === 0 ? [] : [`${name}=[${items.map((words) => JSON.stringify(words)).join(', ')}]`];
      const parts = [
        `pattern=${printPattern(rule.pattern)}`,
        `decision="${rule.decision}"`,
        ...list('match', match),
        ...list('not_match', notMatch),
        ...because(rule),
      ];
      return `prefix_rule(${parts.join(', ')})`;
    }),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function because({ justification }: { readonly justification?: string }): string[] {
  return justification === undefined ? [] : [`justification=${JSON.stringify(justification)}`];
}

function printHost({ name, paths }: HostExecutable): string {
  return `host_executable(name=${JSON.stringify(name)}, paths=[${paths.map((path) => JSON.stringify(path)).join(', ')}])`;
}

function printNetwork(rule: NetworkRule): string {
  const parts = [
    `host=${JSON.stringify(rule.host)}`,
    `protocol="${rule.protocol}"`,
    `decision="${rule.decision}"`,
    ...because(rule),
  ];
  return `network_rule(${parts.join(', ')})`;
}

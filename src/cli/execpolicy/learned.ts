/** `execpolicy list`, `revoke` and `compact`: the rules learned from approvals. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { compactRules, type PrefixRule, printRules } from '../../policy/index.js';
import { confirmRules, learnedRulesFile, listLearned, replaceLearned, revokeRule } from '../../policy/node.js';
import { ArgumentReader, type ExecpolicyIo, usage } from './io.js';
import { readCommands } from './read-commands.js';

const LIST_HELP = `Usage: execpolicy list [--json]

Shows the rules of rules/default.rules with the number revoke takes, and when, why and where each was learned.
`;

export function listRules(args: readonly string[], io: ExecpolicyIo): number {
  const reader = new ArgumentReader(args);
  if (reader.flag('-h', '--help')) {
    io.stdout.write(LIST_HELP);
    return 0;
  }
  const json = reader.flag('--json');
  noMore(reader);
  for (const [i, { line, text, note }] of listLearned(io.home).entries()) {
    if (json) io.stdout.write(`${JSON.stringify({ number: i + 1, line, rule: text, ...note })}\n`);
    else {
      const told = [
        ...(note?.learnedAt ? [`learned ${note.learnedAt}`] : ['written by hand']),
        ...(note?.cwd ? [`in ${note.cwd}`] : []),
        ...(note?.thread ? [`thread ${note.thread}`] : []),
        ...(note?.command ? [`for ${note.command}`] : []),
        ...(note?.reason ? [`because ${note.reason}`] : []),
      ];
      io.stdout.write(`${String(i + 1).padStart(3)}  ${text}\n     ${told.join(', ')}\n`);
    }
  }
  return 0;
}

const REVOKE_HELP = `Usage: execpolicy revoke NUMBER | RULE

Removes one rule from rules/default.rules: by its number in list, or by its text. Running sessions forget it, and what was
approved under it, with their next command.
`;

export async function revokeLearned(args: readonly string[], io: ExecpolicyIo): Promise<number> {
  const reader = new ArgumentReader(args);
  if (reader.flag('-h', '--help')) {
    io.stdout.write(REVOKE_HELP);
    return 0;
  }
  const word = reader.take();
  if (word === undefined) throw usage('revoke needs the number or the text of a rule');
  noMore(reader);
  const text = /^\d+$/.test(word) ? listLearned(io.home)[Number(word) - 1]?.text : word;
  const gone = text !== undefined && (await revokeRule(io.home, text, new Date().toISOString()));
  if (!gone) {
    io.stderr.write(`error: ${learnedRulesFile(io.home)} has no rule ${word}; see execpolicy list\n`);
    return 1;
  }
  io.stdout.write(`revoked ${text}\n`);
  return 0;
}

const CONFIRM_HELP = `Usage: execpolicy confirm FILE...

Lets the allow rules of a project's rules file count, as the file is now. A change of the file takes that back.
`;

export function confirmProject(args: readonly string[], io: ExecpolicyIo): number {
  const reader = new ArgumentReader(args);
  if (reader.flag('-h', '--help')) {
    io.stdout.write(CONFIRM_HELP);
    return 0;
  }
  const files = reader.rest();
  if (files.length === 0) throw usage('confirm needs a rules file');
  for (const file of files) {
    const hash = confirmRules(io.home, path.resolve(io.cwd, file), new Date().toISOString());
    io.stdout.write(`confirmed ${file} (${hash.slice(0, 12)})\n`);
  }
  return 0;
}

const COMPACT_HELP = `Usage: execpolicy compact [--write] [--cases TABLE]

Merges the learned rules of rules/default.rules without changing any decision, proves that on a table of cases made from
the rules (and TABLE), and prints the result. With --write it replaces the lines in the file; comments and rules with a
justification, examples or another decision stay as they are.
`;

export async function compactLearned(args: readonly string[], io: ExecpolicyIo): Promise<number> {
  const reader = new ArgumentReader(args);
  let write = false;
  let cases: string | undefined;
  while (reader.peek() !== undefined) {
    if (reader.flag('-h', '--help')) {
      io.stdout.write(COMPACT_HELP);
      return 0;
    }
    if (reader.flag('--write')) write = true;
    else {
      cases = reader.option('--cases');
      if (cases === undefined) throw usage(`unknown option \`${reader.peek()}\``);
    }
  }
  const file = learnedRulesFile(io.home);
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const table = cases === undefined ? [] : readCommands(cases, io).map(({ argv }) => argv);
  const after = compactText(before, listLearned(io.home), table);
  if (write && after.text !== before && !(await replaceLearned(io.home, before, after.text))) {
    io.stderr.write(`error: ${file} changed meanwhile; try again\n`);
    return 1;
  }
  if (!write) io.stdout.write(after.text);
  io.stderr.write(`${after.from} rules to ${after.to}; ${after.cases} cases decide as before\n`);
  return 0;
}

interface CompactedText {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly cases: number;
}

/** Only lines that are one whole plain rule are touched. */
function compactText(
  before: string,
  learned: ReturnType<typeof listLearned>,
  table: readonly (readonly string[])[],
): CompactedText {
  const simple = learned.filter(({ text, rule }) => isSimple(text, rule));
  const rules = simple.map(({ rule }) => rule);
  const compacted = compactRules(rules, table);
  const kept = new Set(compacted.rules);
  const gone = new Set(simple.filter(({ rule }) => !kept.has(rule)).map(({ line }) => line));
  const lines = before.split('\n').filter((_, i) => !gone.has(i + 1));
  const added = compacted.rules.filter((rule) => !rules.includes(rule));
  const body = lines.join('\n').replace(/([^\n])$/, '$1\n');
  const text =
    added.length === 0 ? body : `${body}${printRules({ rules: added, network: [], hosts: [], examples: [] })}`;
  return { text, from: rules.length, to: compacted.rules.length, cases: compacted.cases };
}

function isSimple(text: string, rule: PrefixRule): boolean {
  if (rule.decision !== 'allow' || rule.justification !== undefined) return false;
  return /^prefix_rule\(pattern=\[.*\](, decision="allow")?\)$/.test(text);
}

function noMore(reader: ArgumentReader): void {
  const word = reader.peek();
  if (word !== undefined) throw usage(`unexpected argument \`${word}\``);
}

/** `execpolicy test`: the examples written in the rules, and a table of commands with the expected outcome. */
import path from 'node:path';
import { decideRequirement, joinWords, outcomeOf, RulesError } from '../../policy/index.js';
import { rulesErrorText } from './check.js';
import { type ExecpolicyIo, usage } from './io.js';
import { readCommands } from './read-commands.js';
import { policyFor, SESSION_HELP, SessionReader, settingsFor } from './session.js';

const HELP = `Usage: execpolicy test [OPTIONS] [RULES...] [--cases TABLE]

Reads the rules files (default: the rules in force), checks every match and not_match example, and judges each line of
the table: {"script": "git push", "expect": "ask"} or {"argv": ["git", "push"], "expect": "refuse", "rule": "a.rules:3"}.
expect is one of run, ask, refuse, or "run outside the sandbox". Exit status 1 when anything differs.

Options:
${SESSION_HELP}      --cases FILE               table, one JSON object per line; - is standard input
  -h, --help                     print this text
`;

export function testRules(args: readonly string[], io: ExecpolicyIo): number {
  const session = new SessionReader(args, io);
  const { reader } = session;
  const files: string[] = [];
  let cases: string | undefined;
  while (reader.peek() !== undefined) {
    if (reader.flag('-h', '--help')) {
      io.stdout.write(HELP);
      return 0;
    }
    const table = reader.option('--cases');
    if (table !== undefined) cases = table;
    else if (!session.takeShared()) files.push(plainWord(reader.take()));
  }
  const shared = session.options();
  const options = { ...shared, rules: [...shared.rules, ...files.map((file) => path.resolve(io.cwd, file))] };
  try {
    return judgeTable(options, cases, io);
  } catch (error) {
    if (!(error instanceof RulesError)) throw error;
    io.stderr.write(rulesErrorText(error.at.file, error));
    return 1;
  }
}

function plainWord(word: string | undefined): string {
  if (word === undefined || word.startsWith('-')) throw usage(`unknown option \`${word}\``);
  return word;
}

function judgeTable(
  options: ReturnType<SessionReader['options']>,
  cases: string | undefined,
  io: ExecpolicyIo,
): number {
  const policy = policyFor(options, io);
  if (policy.broken[0]) throw policy.broken[0];
  const settings = settingsFor(options, policy);
  const examples = policy.files
    .flatMap((file) => file.examples)
    .reduce((sum, item) => sum + item.match.length + item.notMatch.length, 0);
  let failed = 0;
  const rows = cases === undefined ? [] : readCommands(cases, io);
  for (const { argv, cwd, line, more } of rows) {
    const answer = decideRequirement({ ...settings, argv, cwd: cwd ?? options.cwd });
    const got = outcomeOf(answer);
    const want = more['expect'];
    const rule = more['rule'];
    const wrongRule = typeof rule === 'string' && !(answer.rule?.endsWith(rule) ?? false);
    if ((got === want || (want === 'run' && got.startsWith('run'))) && !wrongRule) continue;
    failed++;
    io.stdout.write(
      `FAIL line ${line}: ${joinWords(argv)}: ${got}${answer.rule ? ` by ${answer.rule}` : ''}, expected ${String(want)}\n`,
    );
  }
  io.stdout.write(`${examples} examples hold; ${rows.length - failed} cases passed, ${failed} failed\n`);
  return failed > 0 ? 1 : 0;
}

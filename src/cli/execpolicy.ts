/** `execpolicy …`: look at, try out and tidy the rules that decide about commands. */
import { TurnwrightError } from '../protocol/index.js';
import { checkRules } from './execpolicy/check.js';
import { explainCommand } from './execpolicy/explain.js';
import type { ExecpolicyIo } from './execpolicy/io.js';
import { usage } from './execpolicy/io.js';
import { compactLearned, confirmProject, listRules, revokeLearned } from './execpolicy/learned.js';
import { lintFiles } from './execpolicy/lint.js';
import { simulateCommands } from './execpolicy/simulate.js';
import { testRules } from './execpolicy/test-rules.js';

export type { ExecpolicyIo } from './execpolicy/io.js';

type Command = (args: readonly string[], io: ExecpolicyIo) => number | Promise<number>;

const COMMANDS: Readonly<Record<string, { readonly run: Command; readonly about: string }>> = {
  check: { run: checkRules, about: 'evaluate rules files against one argv (JSON)' },
  explain: { run: explainCommand, about: 'show how a session would judge a command, and why' },
  test: { run: testRules, about: 'check examples and a table of expected outcomes' },
  lint: { run: lintFiles, about: 'find rules that do not do what they seem to' },
  list: { run: listRules, about: 'show learned rules, and when, why and where they were learned' },
  revoke: { run: revokeLearned, about: 'forget a learned rule' },
  confirm: { run: confirmProject, about: "let the allow rules of a project's file count" },
  compact: { run: compactLearned, about: 'merge learned rules without changing a decision' },
  simulate: { run: simulateCommands, about: 'judge commands of the past' },
};

/**
 * Runs one `execpolicy` command. Returns the exit status: 0 done, 1 a rules file is unusable or a test failed, 2 the
 * command line is wrong.
 */
export async function runExecpolicyCommand(args: readonly string[], io: ExecpolicyIo): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === '-h' || name === '--help' || name === 'help') {
    io.stdout.write(helpText());
    return name === undefined ? 2 : 0;
  }
  try {
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (!command) throw usage(`execpolicy has no command \`${name}\``);
    return await command.run(rest, io);
  } catch (error) {
    if (!(error instanceof TurnwrightError)) throw error;
    io.stderr.write(`error: ${error.message}\n`);
    if (error.code === 'TW_USAGE') io.stderr.write(`try: execpolicy ${name} --help\n`);
    return error.exitCode;
  }
}

function helpText(): string {
  const rows = Object.entries(COMMANDS).map(([name, { about }]) => `  ${name.padEnd(10)}${about}`);
  return `Usage: execpolicy COMMAND [ARGUMENTS]\n\nCommands:\n${rows.join('\n')}\n`;
}

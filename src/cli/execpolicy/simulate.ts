/** `execpolicy simulate`: what the rules would have said to commands of the past. */
import { joinWords, type Outcome, simulate } from '../../policy/index.js';
import type { ExecpolicyIo } from './io.js';
import { readPastCommands } from './past-commands.js';
import { readCommands } from './read-commands.js';
import { policyFor, SESSION_HELP, SessionReader, settingsFor } from './session.js';

const HELP = `Usage: execpolicy simulate [OPTIONS] [FILE]

Judges every command that models called for in your threads, or those of FILE: one JSON object per line with "script" or
"argv", and perhaps "cwd"; - is standard input.
With --rules it also shows the commands whose outcome would change against the rules in force.

Options:
${SESSION_HELP}      --json                     one JSON object per distinct command
  -h, --help                     print this text
`;

export function simulateCommands(args: readonly string[], io: ExecpolicyIo): number {
  const session = new SessionReader(args, io);
  const { reader } = session;
  let json = false;
  let file: string | undefined;
  while (reader.peek() !== undefined) {
    if (reader.flag('-h', '--help')) {
      io.stdout.write(HELP);
      return 0;
    }
    if (reader.flag('--json')) json = true;
    else if (!session.takeShared()) file = reader.take();
  }
  const options = session.options();
  const past = file === undefined ? readPastCommands(io) : readCommands(file, io);
  const commands = past.map(({ argv, cwd }) => ({ argv, cwd: cwd ?? options.cwd }));
  const after = simulate(commands, settingsFor(options, policyFor(options, io)));
  const before =
    options.rules.length === 0
      ? undefined
      : simulate(commands, settingsFor(options, policyFor({ ...options, rules: [] }, io)));
  const totals = new Map<Outcome, number>();
  for (const [i, { command, count, outcome, answer }] of after.entries()) {
    totals.set(outcome, (totals.get(outcome) ?? 0) + count);
    const was = before?.[i]?.outcome;
    const change = was !== undefined && was !== outcome ? was : undefined;
    if (json) {
      const row = {
        argv: command.argv,
        cwd: command.cwd,
        count,
        outcome,
        ...(was === undefined ? {} : { before: was }),
        ...(answer.rule ? { rule: answer.rule } : {}),
      };
      io.stdout.write(`${JSON.stringify(row)}\n`);
    } else if (change !== undefined || (before === undefined && outcome !== 'run')) {
      io.stdout.write(
        `${change === undefined ? outcome : `${change} → ${outcome}`}  ${joinWords(command.argv)}${answer.rule ? `  (${answer.rule})` : ''}\n`,
      );
    }
  }
  const sums = [...totals].map(([outcome, count]) => `${count} ${outcome}`).join(', ');
  io.stderr.write(`${commands.length} commands, ${after.length} distinct: ${sums}\n`);
  return 0;
}

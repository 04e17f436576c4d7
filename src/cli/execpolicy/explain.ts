/** `execpolicy explain`: the very pipeline of a session, told step by step. */
import { decideRequirement, printReport, reportAnswer } from '../../policy/index.js';
import { type ExecpolicyIo, usage } from './io.js';
import { commandArgv, policyFor, SESSION_HELP, SessionReader, settingsFor } from './session.js';

const HELP = `Usage: execpolicy explain [OPTIONS] SCRIPT
       execpolicy explain [OPTIONS] -- PROGRAM ARGUMENT...

Shows what a command comes to, which rules match where, and what a session would do.

Options:
${SESSION_HELP}      --json                     print the explanation as JSON
  -h, --help                     print this text
`;

export function explainCommand(args: readonly string[], io: ExecpolicyIo): number {
  const session = new SessionReader(args, io);
  const { reader } = session;
  let json = false;
  for (;;) {
    if (reader.flag('-h', '--help')) {
      io.stdout.write(HELP);
      return 0;
    }
    if (reader.flag('--')) break;
    if (reader.flag('--json')) json = true;
    else if (!session.takeShared()) break;
  }
  const words = reader.rest();
  if (words.length === 0) throw usage('explain needs a command');
  const options = session.options();
  const policy = policyFor(options, io);
  const answer = decideRequirement({ ...settingsFor(options, policy), argv: commandArgv(words), cwd: options.cwd });
  const report = reportAnswer(answer);
  for (const error of policy.broken) io.stderr.write(`warning: ${error.message}\n`);
  io.stdout.write(json ? `${JSON.stringify(report)}\n` : printReport(report));
  return 0;
}

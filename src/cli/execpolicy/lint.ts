/** `execpolicy lint`: rules that do not do what they seem to. */
import path from 'node:path';
import { lintRules, ruleName } from '../../policy/index.js';
import { type ExecpolicyIo, usage } from './io.js';
import { policyFor, SessionReader } from './session.js';

const HELP = `Usage: execpolicy lint [RULES...]

Reports rules that are doubled, shadowed, contradicted, without effect or too broad. Without files: the rules in force.
Exit status 1 when anything is found.

Options:
      --json   one JSON object per finding
  -h, --help   print this text
`;

export function lintFiles(args: readonly string[], io: ExecpolicyIo): number {
  const { reader } = new SessionReader(args, io);
  const rules: string[] = [];
  let json = false;
  while (reader.peek() !== undefined) {
    if (reader.flag('-h', '--help')) {
      io.stdout.write(HELP);
      return 0;
    }
    if (reader.flag('--json')) json = true;
    else {
      const word = reader.take() ?? '';
      if (word.startsWith('-')) throw usage(`unknown option \`${word}\``);
      rules.push(path.resolve(io.cwd, word));
    }
  }
  const policy = policyFor({ rules, cwd: io.cwd }, io);
  const findings = lintRules(policy);
  for (const error of policy.broken)
    io.stdout.write(json ? `${JSON.stringify({ kind: 'broken', message: error.message })}\n` : `${error.message}\n`);
  for (const { kind, rule, message } of findings) {
    io.stdout.write(
      json
        ? `${JSON.stringify({ kind, at: ruleName(rule.origin), message })}\n`
        : `${ruleName(rule.origin)}: ${kind}: ${message}\n`,
    );
  }
  return findings.length + policy.broken.length > 0 ? 1 : 0;
}

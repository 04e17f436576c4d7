/** `execpolicy check`: the rules against one argv, as JSON. A drop-in for the command of the same name in Codex 0.171. */
import path from 'node:path';
import {
  checkCommand,
  createPolicy,
  type HostExecutable,
  lowerCommand,
  parseRules,
  type RuleFile,
  RulesError,
} from '../../policy/index.js';
import { readRulesText } from '../../policy/node.js';
import { ArgumentReader, type ExecpolicyIo, usage } from './io.js';

const HELP = `Usage: execpolicy check --rules PATH... [OPTIONS] COMMAND...

Evaluates rules files against a command and prints the matches as one line of JSON.
The command is taken as it is given: nothing is split, nothing is unwrapped (see explain).

Options:
  -r, --rules PATH               a rules file; may be repeated
      --pretty                   indent the JSON
      --resolve-host-executables compare the base name of a path too
      --shell                    judge every command the argv can start, one result each
      --fail-on DECISION         exit 3 when the decision is at least prompt or forbidden
  -h, --help                     print this text
`;

interface CheckArguments {
  readonly rules: readonly string[];
  readonly pretty: boolean;
  readonly resolve: boolean;
  readonly shell: boolean;
  readonly failOn: string | undefined;
  readonly command: readonly string[];
}

export function checkRules(args: readonly string[], io: ExecpolicyIo): number {
  const parsed = readArguments(args);
  if (parsed === 'help') {
    io.stdout.write(HELP);
    return 0;
  }
  const files = readFiles(parsed.rules, io);
  if (!files) return 1;
  const policy = createPolicy(files);
  const check = (argv: readonly string[]) =>
    checkCommand(policy, argv, { resolveHostExecutables: parsed.resolve, cwd: io.cwd });
  const results = parsed.shell
    ? lowerCommand(parsed.command, { cwd: io.cwd }).segments.map(({ argv, words }) =>
        argv
          ? { argv, ...check(argv) }
          : { words: words.map((word) => (typeof word === 'string' ? word : null)), matchedRules: [] },
      )
    : [check(parsed.command)];
  const output = parsed.shell ? results : results[0];
  io.stdout.write(`${parsed.pretty ? JSON.stringify(output, null, 2) : JSON.stringify(output)}\n`);
  return failed(results, parsed.failOn) ? 3 : 0;
}

function failed(results: readonly object[], failOn: string | undefined): boolean {
  const order = ['allow', 'prompt', 'forbidden'];
  return (
    failOn !== undefined &&
    results.some((result) => {
      const decision = 'decision' in result ? String(result.decision) : 'allow';
      return order.indexOf(decision) >= order.indexOf(failOn);
    })
  );
}

/** Options end at the first word that is none; what follows is the command, and one leading `--` is dropped. */
function readArguments(args: readonly string[]): CheckArguments | 'help' {
  const reader = new ArgumentReader(args);
  const rules: string[] = [];
  let pretty = 0;
  let resolve = false;
  let shell = false;
  let failOn: string | undefined;
  for (;;) {
    const word = reader.peek();
    if (word === '-h' || word === '--help') return 'help';
    if (word === '--') {
      reader.take();
      break;
    }
    const file = reader.option('-r', '--rules');
    if (file !== undefined) rules.push(file);
    else if (reader.flag('--pretty')) pretty++;
    else if (reader.flag('--resolve-host-executables')) resolve = true;
    else if (reader.flag('--shell')) shell = true;
    else {
      const fail = reader.option('--fail-on');
      if (fail !== undefined) failOn = fail;
      else if (reader.option('-c', '--config', '--enable', '--disable') === undefined) break;
    }
  }
  const command = reader.rest();
  if (pretty > 1) throw usage("the argument '--pretty' cannot be used multiple times");
  if (failOn !== undefined && failOn !== 'prompt' && failOn !== 'forbidden')
    throw usage('--fail-on takes prompt or forbidden');
  const missing = [
    ...(rules.length === 0 ? ['--rules <PATH>'] : []),
    ...(command.length === 0 ? ['<COMMAND>...'] : []),
  ];
  if (missing.length > 0) throw usage(`the following required arguments were not provided: ${missing.join(' ')}`);
  return { rules, pretty: pretty > 0, resolve, shell, failOn, command };
}

/** All files, or undefined after the first that cannot be used was reported. */
function readFiles(names: readonly string[], io: ExecpolicyIo): readonly RuleFile[] | undefined {
  const hosts: HostExecutable[] = [];
  const files: RuleFile[] = [];
  for (const file of names) {
    try {
      const text = readRulesText(path.resolve(io.cwd, file));
      const parsed = parseRules(text, { file, hosts, cwd: io.cwd });
      hosts.push(...parsed.hosts);
      files.push(parsed);
    } catch (error) {
      if (!(error instanceof RulesError)) throw error;
      io.stderr.write(rulesErrorText(file, error));
      return undefined;
    }
  }
  return files;
}

/** What is wrong and where, with the line and a pointer under it. */
export function rulesErrorText(file: string, error: RulesError): string {
  const head = `Error: failed to ${error.kind === 'read_error' ? 'read' : 'parse'} policy at ${file}\n\n${error.kind}: ${error.detail}\n`;
  if (error.kind === 'read_error') return head;
  const { line, column } = error.at;
  const gutter = String(line);
  const source = error.sourceLine ?? '';
  return `${head} --> ${error.at.file}:${line}:${column}\n${' '.repeat(gutter.length)} |\n${gutter} | ${source}\n${' '.repeat(gutter.length)} | ${' '.repeat(Math.max(0, column - 1))}^\n`;
}

/** The tree of commands. It only reads the command line; each command's code loads when it runs. */
import { Command, CommanderError } from 'commander';
import { nearestWord } from '../engine/index.js';
import { VERSION } from '../lib/index.js';
import { TurnwrightError } from '../protocol/index.js';
import { addCommonOptions, type CommonOptions, type SetStatus } from './common-options.js';
import { addExecCommand } from './exec-command.js';
import { printError } from './print-error.js';
import { findRawCommand, RAW_COMMANDS, type RawCommand } from './raw-commands.js';

/** Parses and runs. Resolves with the exit status: 2 for a wrong command line. */
export async function runProgram(argv: readonly string[]): Promise<number> {
  const outcome = { status: 0 };
  try {
    const at = firstWord(argv);
    const raw = findRawCommand(argv[at]);
    if (raw) return await runRaw(raw, argv.slice(0, at), argv.slice(at + 1));
    const program = createProgram((status) => {
      outcome.status = status;
    });
    await program.parseAsync([...argv], { from: 'user' });
    return outcome.status;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    return printError(error);
  }
}

/** Where the command's name stands: behind the common options and their values. */
function firstWord(argv: readonly string[]): number {
  let at = 0;
  while (argv[at]?.startsWith('-')) at += /^(-[cpm]|--(config|enable|disable|profile|model))$/.test(argv[at]!) ? 2 : 1;
  return at;
}

async function runRaw(command: RawCommand, before: readonly string[], args: readonly string[]): Promise<number> {
  if (!command.ownHelp && (args[0] === '--help' || args[0] === '-h')) {
    process.stdout.write(`Usage: ${command.usage}\n\n${command.about}\n`);
    return 0;
  }
  const common = addCommonOptions(new Command('turnwright').exitOverride());
  common.parse([...before], { from: 'user' });
  return command.run(args, common.opts<CommonOptions>());
}

function createProgram(setStatus: SetStatus): Command {
  const program = new Command('turnwright')
    .description('A coding agent for the terminal: give it a task, it reads, edits and runs within a sandbox.')
    .version(`turnwright ${VERSION}`, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand(false)
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .usage('[options] COMMAND')
    .addHelpText('after', EXAMPLES);
  addCommonOptions(program);
  addExecCommand(program, setStatus);
  for (const { name, about } of RAW_COMMANDS) program.command(name).description(about).usage('…');
  program.argument('[words...]').action((words: readonly string[]) => {
    if (words.length > 0) throw unknownCommand(words[0]!, program);
    program.outputHelp();
  });
  for (const command of everyCommand(program)) hintAt(command);
  return program;
}

function unknownCommand(word: string, program: Command): TurnwrightError {
  const nearest = nearestWord(
    word,
    program.commands.map((command) => command.name()),
  );
  const hint = nearest === undefined ? "see 'turnwright --help'" : `did you mean '${nearest}'?`;
  return new TurnwrightError('TW_USAGE', `there is no command '${word}'; ${hint} A task is given to 'turnwright exec'`);
}

const EXAMPLES = `
Start here:
  turnwright exec "explain this repository"      one task, read-only
  turnwright exec -s workspace-write "fix the failing test"
  turnwright exec resume --last "now add a test for it"
  turnwright doctor                              what works on this machine

It looks for a model in this order: your configuration, OPENAI_API_KEY, a local server (Ollama, LM Studio, llama.cpp, vLLM).`;

function* everyCommand(command: Command): Generator<Command> {
  yield command;
  for (const inner of command.commands) yield* everyCommand(inner);
}

function hintAt(command: Command): void {
  const names: string[] = [];
  for (let at: Command | null = command; at; at = at.parent) names.unshift(at.name());
  command.exitOverride().showHelpAfterError(`Run '${names.join(' ')} --help' for what is possible.`);
}

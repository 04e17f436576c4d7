/** The tree of commands. It only reads the command line; each command's code loads when it runs. */
import { Command, CommanderError } from 'commander';
import { VERSION } from '../lib/index.js';
import { addCommonOptions, type SetStatus } from './common-options.js';
import { addExecCommand } from './exec-command.js';
import { printError } from './print-error.js';

/** Parses and runs. Resolves with the exit status: 2 for a wrong command line. */
export async function runProgram(argv: readonly string[]): Promise<number> {
  const outcome = { status: 0 };
  const program = createProgram((status) => {
    outcome.status = status;
  });
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return outcome.status;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    return printError(error);
  }
}

function createProgram(setStatus: SetStatus): Command {
  const program = new Command('turnwright')
    .description('A coding agent for the terminal: give it a task, it reads, edits and runs within a sandbox.')
    .version(`turnwright ${VERSION}`, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand(false)
    .enablePositionalOptions()
    .exitOverride()
    .showSuggestionAfterError()
    .configureOutput({ outputError: (text, write) => write(text.endsWith('\n') ? text : `${text}\n`) })
    .addHelpText('after', EXAMPLES);
  addCommonOptions(program);
  addExecCommand(program, setStatus);
  addSmallCommands(program, setStatus);
  program.action(() => {
    program.outputHelp();
    setStatus(0);
  });
  for (const command of everyCommand(program)) hintAt(command);
  return program;
}

const EXAMPLES = `
Start here:
  turnwright demo                                see it work, without a model or a key
  turnwright exec "explain this repository"      one task, read-only
  turnwright exec -s workspace-write "fix the failing test"
  turnwright exec resume --last "now add a test for it"
  turnwright doctor                              what works on this machine

It looks for a model in this order: your configuration, OPENAI_API_KEY, a local server (Ollama, LM Studio, llama.cpp, vLLM).`;

function addSmallCommands(program: Command, setStatus: SetStatus): void {
  program
    .command('apply_patch')
    .aliases(['apply-patch', 'applypatch'])
    .description('apply a patch given as an argument or on stdin')
    .argument('[patch...]')
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (args: readonly string[]) => {
      const { runApplyPatch } = await import('../engine/index.js');
      setStatus(await runApplyPatch(args));
    });
}

function* everyCommand(command: Command): Generator<Command> {
  yield command;
  for (const inner of command.commands) yield* everyCommand(inner);
}

function hintAt(command: Command): void {
  const names: string[] = [];
  for (let at: Command | null = command; at; at = at.parent) names.unshift(at.name());
  command.exitOverride().showHelpAfterError(`Run '${names.join(' ')} --help' for what is possible.`);
}

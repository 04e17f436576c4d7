/** `exec` and `exec resume` as commands: which options there are, and what they mean as a request. */
import { type Command, Option } from 'commander';
import { TurnwrightError } from '../protocol/index.js';
import { addCommonOptions, type CommonOptions, collect, type SetStatus } from './common-options.js';
import type { ExecRequest } from './exec.js';

interface ExecOptions extends CommonOptions {
  readonly json?: boolean;
  readonly experimentalJson?: boolean;
  readonly sandbox?: string;
  readonly cd?: string;
  readonly addDir?: readonly string[];
  readonly image?: readonly string[];
  readonly skipGitRepoCheck?: boolean;
  readonly trust?: boolean;
  readonly ephemeral?: boolean;
  readonly ignoreUserConfig?: boolean;
  readonly ignoreRules?: boolean;
  readonly outputSchema?: string;
  readonly outputLastMessage?: string;
  readonly color?: 'auto' | 'always' | 'never';
  readonly oss?: boolean;
  readonly localProvider?: string;
  readonly dangerouslyBypassApprovalsAndSandbox?: boolean;
  readonly dangerouslyBypassHookTrust?: boolean;
  readonly threadSource?: string;
}

interface ResumeOptions {
  readonly last?: boolean;
  readonly all?: boolean;
}

export function addExecCommand(program: Command, setStatus: SetStatus): void {
  const exec = program
    .command('exec')
    .alias('e')
    .description('run one task without a person: progress on stderr, the answer on stdout')
    .argument('[prompt]', 'the task; `-` or nothing reads it from stdin')
    .enablePositionalOptions(false)
    .helpCommand(false)
    .addHelpText('after', STATUS_HELP);
  addCommonOptions(exec);
  addExecOptions(exec);
  const run = async (request: ExecRequest) => {
    const { runExec } = await import('./exec.js');
    setStatus(await runExec(request));
  };
  exec.action((prompt: string | undefined) => run(execRequest(prompt, optionsOf(program, exec))));
  addResume(exec, (prompt, wanted) => run({ ...execRequest(prompt, optionsOf(program, exec)), resume: wanted }));
  for (const name of ['review', 'fork']) addUnsupported(exec, name);
}

const STATUS_HELP = `
Exit status: 0 done · 1 the turn failed or cannot start · 2 wrong command line · 3 no model provider · 4 budget used up
· 130 interrupted.`;

function addExecOptions(command: Command): void {
  const modes = ['read-only', 'workspace-write', 'danger-full-access'];
  command
    .option('--json', 'write events as JSON lines to stdout')
    .addOption(new Option('--experimental-json').hideHelp())
    .addOption(new Option('-s, --sandbox <mode>', 'what commands may touch (default: read-only)').choices(modes))
    .option('-C, --cd <dir>', 'work in this folder')
    .option('--add-dir <dir>', 'a further writable folder (repeatable)', collect)
    .option('-i, --image <file>', 'attach an image (repeatable, or a list with commas)', collectFiles)
    .option('--skip-git-repo-check', 'allow a folder outside any git repository')
    .option('--trust', "use this project's own configuration for this run")
    .option('--ephemeral', 'save nothing of this thread')
    .option('--ignore-user-config', 'do not read your config.toml')
    .option('--ignore-rules', 'do not read .rules files')
    .option('--output-schema <file>', 'JSON Schema that the last message must follow')
    .option('-o, --output-last-message <file>', 'write the last message to this file')
    .addOption(new Option('--color <when>', 'colours on stderr').choices(['auto', 'always', 'never']).default('auto'))
    .option('--oss', 'use a local model server')
    .option('--local-provider <name>', 'which local server: ollama, lmstudio, llamacpp or vllm')
    .addOption(
      new Option(
        '--dangerously-bypass-approvals-and-sandbox',
        'no sandbox and no questions: only inside a container',
      ).conflicts('sandbox'),
    )
    .addOption(new Option('--yolo').implies({ dangerouslyBypassApprovalsAndSandbox: true }).hideHelp())
    .option('--dangerously-bypass-hook-trust', 'run enabled hooks that nobody has reviewed')
    .addOption(new Option('--thread-source <name>').hideHelp());
  for (const [flags, instead] of UNSUPPORTED) command.addOption(unsupportedOption(flags, instead));
}

/** Known to programs of the family and not possible here: said clearly instead of being ignored. */
const UNSUPPORTED: readonly (readonly [flags: string, instead: string])[] = [
  ['--approve-for-me', 'an automatic reviewer is not available; use -s workspace-write'],
  ['--remote <address>', 'remote hosts are not supported'],
  ['--worktree [name]', 'make a work tree with git, then use -C'],
  ['--cyber-access-program <name>', 'it belongs to another vendor'],
  ['--full-auto', 'it is gone; use -s workspace-write'],
];

function unsupportedOption(flags: string, instead: string): Option {
  return new Option(flags)
    .hideHelp()
    .preset('')
    .argParser(() => {
      throw new TurnwrightError('TW_USAGE', `${flags.split(' ')[0]} is not supported: ${instead}`);
    });
}

function addUnsupported(exec: Command, name: string): void {
  exec
    .command(name, { hidden: true })
    .allowUnknownOption()
    .argument('[args...]')
    .action(() => {
      throw new TurnwrightError('TW_USAGE', `exec ${name} is not supported yet`);
    });
}

function addResume(
  exec: Command,
  run: (prompt: string | undefined, resume: NonNullable<ExecRequest['resume']>) => Promise<void>,
): void {
  exec
    .command('resume')
    .description('go on with a thread')
    .argument('[thread]', 'id, unique beginning of an id, or name')
    .argument('[prompt]', 'the task; `-` or nothing reads it from stdin')
    .option('--last', 'the newest thread of this folder')
    .option('--all', 'with --last: of any folder')
    .action((thread: string | undefined, prompt: string | undefined, options: ResumeOptions) => {
      if (options.last) {
        if (prompt !== undefined)
          throw new TurnwrightError('TW_USAGE', 'exec resume: give a thread or --last, not both');
        return run(thread, { kind: 'last', anyFolder: options.all === true }); // the only word is the prompt
      }
      if (thread === undefined)
        throw new TurnwrightError('TW_USAGE', 'exec resume: give a thread id or name, or --last');
      return run(prompt, { kind: 'named', thread });
    });
}

function collectFiles(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, ...value.split(',').filter(Boolean)];
}

/** Options may stand before `exec` too; lists are joined, single values nearer to the prompt win. */
function optionsOf(program: Command, exec: Command): ExecOptions {
  const outer: CommonOptions = program.opts();
  const inner: ExecOptions = exec.opts();
  const join = (key: 'config' | 'enable' | 'disable') => ({ [key]: [...(outer[key] ?? []), ...(inner[key] ?? [])] });
  return { ...outer, ...inner, ...join('config'), ...join('enable'), ...join('disable') };
}

function execRequest(prompt: string | undefined, options: ExecOptions): ExecRequest {
  return {
    ...(prompt === undefined ? {} : { prompt }),
    json: options.json === true || options.experimentalJson === true,
    overrides: options.config ?? [],
    flags: flagTable(options),
    ...(options.profile === undefined ? {} : { profile: options.profile }),
    strictConfig: options.strictConfig === true,
    ...(options.cd === undefined ? {} : { cd: options.cd }),
    addDirs: options.addDir ?? [],
    images: options.image ?? [],
    skipRepositoryCheck: options.skipGitRepoCheck === true || options.dangerouslyBypassApprovalsAndSandbox === true,
    trustProject: options.trust === true,
    ephemeral: options.ephemeral === true,
    ignoreUserConfig: options.ignoreUserConfig === true,
    ignoreRules: options.ignoreRules === true,
    ...(options.outputSchema === undefined ? {} : { outputSchemaFile: options.outputSchema }),
    ...(options.outputLastMessage === undefined ? {} : { lastMessageFile: options.outputLastMessage }),
    color: options.color ?? 'auto',
    ...(options.oss || options.localProvider !== undefined
      ? { local: options.localProvider === undefined ? {} : { provider: options.localProvider } }
      : {}),
    bypassHookTrust: options.dangerouslyBypassHookTrust === true,
    ...(options.threadSource === undefined ? {} : { source: options.threadSource }),
  };
}

/** Dedicated flags as configuration; they win over `-c`. */
function flagTable(options: ExecOptions): Readonly<Record<string, unknown>> {
  const features = Object.fromEntries([
    ...(options.enable ?? []).map((name) => [name, true] as const),
    ...(options.disable ?? []).map((name) => [name, false] as const),
  ]);
  return {
    ...(options.model === undefined ? {} : { model: options.model }),
    ...(options.sandbox === undefined ? {} : { sandbox_mode: options.sandbox }),
    ...(options.dangerouslyBypassApprovalsAndSandbox
      ? { sandbox_mode: 'danger-full-access', approval_policy: 'never' }
      : {}),
    ...(Object.keys(features).length > 0 ? { features } : {}),
  };
}

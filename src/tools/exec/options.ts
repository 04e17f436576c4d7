/** What a host decides about commands, and what a thread lends to the tools. */
import type { Clock, Ids } from '../../lib/index.js';
import type { Environment, ProcessTable, SecretMasker, ShellEnvironmentPolicy } from '../../process/index.js';
import type { CommandAction, SandboxDenialFacts } from '../../protocol/index.js';
import type { DenialQuestion } from '../../sandbox/index.js';
import type { CommandPolicy } from './policy-port.js';
import type { Shell } from './shell.js';

export interface ExecToolOptions {
  /** The person's shell; `findUserShell` finds it. */
  readonly shell: Shell;
  readonly envPolicy: ShellEnvironmentPolicy;
  /** Variables that hold the keys of model providers: never passed on, masked in output. */
  readonly providerKeyNames: readonly string[];
  /** False: no command runs as a login shell. */
  readonly allowLoginShell: boolean;
  /** The host's own environment. */
  readonly baseEnv: Environment;
  /** Told to commands. */
  readonly version?: string;
  /** Default: `safeCoreCommandPolicy`. */
  readonly policy?: CommandPolicy;
  /** Longest wait of a poll. Default 300,000. */
  readonly backgroundMaxTimeoutMs?: number;
  /** Most tokens of output a model may ask for. Default 10,000. */
  readonly maxOutputTokens?: number;
  /** Absolute directory for files with the whole output of each command. Default: none are kept. */
  readonly spillDir?: string;
  /** What clients show for a command. Default: nothing but the command itself. */
  summarize?(script: string, where: { readonly cwd: string }): readonly CommandAction[] | undefined;
  /** Default: the sandbox's own judgement. */
  detectDenial?(question: DenialQuestion): SandboxDenialFacts | undefined;
}

/** Recognises a script that is a patch and nothing else. `workdir` is from `cd DIR &&`, as written. */
export type PatchInterceptor = (script: string) => { readonly patch: string; readonly workdir?: string } | undefined;

export interface ExecDeps extends ExecToolOptions {
  readonly processes: ProcessTable;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly interceptPatch?: PatchInterceptor;
}

/** The same, with defaults filled in. */
export interface ExecServices {
  readonly deps: ExecDeps;
  readonly policy: CommandPolicy;
  /** Environment of every command, without what each call adds. */
  readonly childEnv: Readonly<Record<string, string>>;
  readonly masker: SecretMasker;
  readonly longestPollMs: number;
  readonly maxOutputTokens: number;
  detectDenial(question: DenialQuestion): SandboxDenialFacts | undefined;
}

/** The rules in force for a session: which directories count, what the command tool asks, and where answers are learned. */
import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';
import { foldersFromRoot } from '../config/index.js';
import type { summarizeCommand as SummarizeCommand } from '../policy/index.js';
import {
  confirmationsFile,
  createPolicySource,
  gitIsPlain,
  learnRule,
  managedRules,
  type PolicySource,
  ruleDirectories,
} from '../policy/node.js';
import { type Amendment, type CommandAction, TurnwrightError } from '../protocol/index.js';
import type { CommandPolicy } from '../tools/index.js';
import type { SessionConfig, SessionRequest } from './session-config.js';

export interface SessionPolicy {
  /** `warm` loads what the first question needs. */
  readonly commands: CommandPolicy & { warm(): Promise<void> };
  /** What a command does, for people. Undefined until the first question loaded the shell parser. */
  summarize(script: string, where: { readonly cwd: string }): readonly CommandAction[] | undefined;
  /** Changes when any rule in force changes. */
  fingerprint(): string;
  learn(amendment: Amendment): Promise<void>;
}

/** Where a session without a person is started, a broken rules file is an error: nobody would see the warning. */
export function openSessionPolicy(loaded: SessionConfig, request: SessionRequest): SessionPolicy {
  const source = createPolicySource(
    {
      directories: directoriesOf(loaded, request),
      confirmations: confirmationsFile(loaded.homes.own),
      more: managedFiles(loaded),
    },
    { onWarning: (text) => request.notice(`warning: ${text}`) },
  );
  if (!request.interactive) refuseBroken(source);
  const { commands, summarize } = commandPolicy(source, loaded, request);
  return {
    commands,
    summarize,
    fingerprint: () => source.current().fingerprint,
    async learn({ prefix }) {
      await learnRule(loaded.homes.own, prefix, { learnedAt: new Date().toISOString(), cwd: request.cwd });
    },
  };
}

/** Judging needs the shell parser, which is large: it loads at the first command, or before it by `warm`. */
function commandPolicy(
  source: PolicySource,
  loaded: SessionConfig,
  { env }: SessionRequest,
): Pick<SessionPolicy, 'commands' | 'summarize'> {
  let opened: CommandPolicy | undefined;
  let summarizer: typeof SummarizeCommand | undefined;
  let opening: Promise<CommandPolicy> | undefined;
  const open = async (): Promise<CommandPolicy> => {
    const { createCommandPolicy, summarizeCommand } = await import('../policy/index.js');
    summarizer = summarizeCommand;
    opened = createCommandPolicy({
      current: () => source.current(),
      knownSafeCommands: loaded.config.knownSafeCommands,
      gitIsPlain,
      programPath: (name) => findProgram(name, env['PATH']),
      ...(env['TMPDIR'] === undefined ? {} : { tmpdir: env['TMPDIR'] }),
    });
    return opened;
  };
  const commands: SessionPolicy['commands'] = {
    decide: (question) => opened?.decide(question) ?? (opening ??= open()).then((policy) => policy.decide(question)),
    async warm() {
      await (opening ??= open());
    },
  };
  return { commands, summarize: (script, where) => summarizer?.(script, where) };
}

/** Rules of an administrator: merged last, and `--ignore-rules` does not reach them. */
function managedFiles(loaded: SessionConfig) {
  return loaded.requirements.map(({ file, table }) => managedRules(table['rules'], file));
}

/** Low to high: system, user (the older home's rules too), project. */
function directoriesOf(loaded: SessionConfig, request: SessionRequest) {
  if (request.ignoreRules) return [];
  const { homes, project } = loaded;
  const projects = foldersFromRoot(project.root, request.cwd);
  const readOnly = loaded.config.sandboxMode === 'read-only';
  const own = ruleDirectories({ home: homes.own, system: '/etc/turnwright', projects, trust: project.trust, readOnly });
  const fallback =
    homes.fallback === undefined ? [] : [{ directory: path.join(homes.fallback, 'rules'), layer: 'user' as const }];
  return [...fallback, ...own];
}

function refuseBroken(source: PolicySource): void {
  const [broken] = source.current().broken;
  if (broken)
    throw new TurnwrightError('TW_RULES_PARSE', `${broken.message}; correct the file, or run with --ignore-rules`, {
      cause: broken,
    });
}

function findProgram(name: string, searchPath: string | undefined): string | undefined {
  for (const folder of (searchPath ?? '').split(path.delimiter)) {
    const file = path.join(folder, name);
    if (!path.isAbsolute(folder) || !statSync(file, { throwIfNoEntry: false })?.isFile()) continue;
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // not executable for us: the shell goes on looking, too
    }
  }
  return undefined;
}

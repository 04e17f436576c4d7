/**
 * A friendly summary of a command, for people; no decision reads it. A command is shown as reading, listing or searching
 * only when every stage of it is proven to do no more; otherwise it is shown whole.
 */
import { hasFlag, operands } from './flags.js';
import { lowerCommand } from './lower/lower-command.js';
import type { Lowered } from './lower/segment.js';
import { normalizePath } from './rules/rule-functions.js';
import { joinWords } from './rules/words.js';
import { isSafeCommand } from './safe-commands.js';

export type CommandAction =
  /** `path` is absolute. */
  | { readonly type: 'read'; readonly command: string; readonly name: string; readonly path: string }
  /** `path` as written; null is the working directory. */
  | { readonly type: 'listFiles'; readonly command: string; readonly path: string | null }
  | { readonly type: 'search'; readonly command: string; readonly query: string | null; readonly path: string | null }
  | { readonly type: 'unknown'; readonly command: string };

export interface SummaryOptions {
  /** Absolute. */
  readonly cwd: string;
  /** Default bash. */
  readonly shell?: string;
}

export function summarizeCommand(script: string, { cwd, shell = 'bash' }: SummaryOptions): readonly CommandAction[] {
  return summarizeLowered(lowerCommand([shell, '-c', script], { cwd }), cwd) ?? [{ type: 'unknown', command: script }];
}

/** The actions of a command that is lowered already, or undefined when it is more than reading. */
export function summarizeLowered(lowered: Lowered, cwd: string): readonly CommandAction[] | undefined {
  if (lowered.unknown.length > 0 || lowered.effects.some(({ kind }) => kind === 'write')) return undefined;
  const actions: CommandAction[] = [];
  let folder = cwd;
  for (const { argv, parent, taint } of lowered.segments) {
    if (!argv || parent !== undefined || taint !== undefined || argv[0] === undefined) return undefined;
    if (argv[0] === 'cd' && argv.length === 2 && actions.length === 0) folder = resolve(folder, argv[1]!);
    else if (isQuiet(argv, actions.length > 0)) continue;
    else {
      const action = summarizeStage(argv, folder);
      if (!action) return undefined;
      if (JSON.stringify(action) !== JSON.stringify(actions.at(-1))) actions.push(action);
    }
  }
  return actions.length > 0 ? actions : undefined;
}

function resolve(folder: string, path: string): string {
  return normalizePath(path.startsWith('/') ? path : `${folder}/${path}`);
}

const FILTERS = new Set('head tail wc sort uniq cut tr nl rev tac column fold sed paste'.split(' '));
const SILENT = new Set(['true', ':', 'echo', 'printf']);

/** Stages that say nothing of their own: filters behind a pipe without a file, and plain output. */
function isQuiet(argv: readonly string[], piped: boolean): boolean {
  const [program = ''] = argv;
  if (!isSafeCommand(argv)) return false;
  if (SILENT.has(program)) return true;
  return piped && FILTERS.has(program) && files(argv).length === 0;
}

/** Words that name files, without the values of the few options that take one. */
function files(argv: readonly string[]): readonly string[] {
  const [program = ''] = argv;
  if (program === 'sed') return argv.slice(3);
  const takesValue = program === 'tr' || program === 'cat' ? /^$/ : /^-[ncdfktsw]$/;
  const kept = argv.filter((_word, i) => i === 0 || !takesValue.test(argv[i - 1]!));
  const names = operands(kept).filter((word): word is string => typeof word === 'string');
  return program === 'tr' ? [] : names;
}

function summarizeStage(argv: readonly string[], folder: string): CommandAction | undefined {
  const [program = ''] = argv;
  const stage = Object.hasOwn(STAGES, program) ? STAGES[program] : undefined;
  return stage?.(argv, folder);
}

type Stage = (argv: readonly string[], folder: string) => CommandAction | undefined;

const read: Stage = (argv, folder) => {
  const [path, ...more] = files(argv);
  if (path === undefined || more.length > 0 || path === '-') return undefined;
  const name = path.replace(/\/+$/, '').split('/').at(-1) ?? path;
  return { type: 'read', command: joinWords(argv), name, path: resolve(folder, path) };
};
const safeRead: Stage = (argv, folder) => (isSafeCommand(argv) ? read(argv, folder) : undefined);
/** Pagers run programs by options and by `+commands`. */
const pager: Stage = (argv, folder) =>
  argv.slice(1).some((word) => /^[-+]/.test(word)) ? undefined : read(argv, folder);

const list: Stage = (argv) => {
  if (!isSafeCommand(argv)) return undefined;
  return { type: 'listFiles', command: joinWords(argv), path: files(argv).at(-1) ?? null };
};

const search: Stage = (argv) => {
  if (!isSafeCommand(argv)) return undefined;
  const command = joinWords(argv);
  const words = argv.filter((_, i) => i === 0 || !/^(-[efgtmABC]|--glob|--type|--max-count)$/.test(argv[i - 1]!));
  const pattern = argv[argv.findIndex((word) => word === '-e' || word === '--regexp') + 1];
  const named = hasFlag(argv, '-e', '--regexp') ? pattern : undefined;
  const rest = operands(words).filter((word): word is string => typeof word === 'string');
  if (argv[0] === 'rg' && hasFlag(argv, '--files')) return { type: 'listFiles', command, path: rest[0] ?? null };
  const [query, path] = named === undefined ? [rest[0], rest[1]] : [named, rest[0]];
  return { type: 'search', command, query: query ?? null, path: path ?? null };
};

const find: Stage = (argv) => {
  if (!isSafeCommand(argv)) return undefined;
  const command = joinWords(argv);
  const from = argv.slice(1).find((word) => !word.startsWith('-')) ?? null;
  const at = argv.findIndex((word) => /^-i?(name|path|regex|wholename)$/.test(word));
  if (at === -1) return { type: 'listFiles', command, path: from };
  return { type: 'search', command, query: argv[at + 1] ?? null, path: from };
};

const fd: Stage = (argv) => {
  if (argv.slice(1).some((word) => /^(-[a-zA-Z]*[xX]|--exec|--list-details|-l)/.test(word))) return undefined;
  const rest = argv.slice(1).filter((word, i, all) => !word.startsWith('-') && !/^-[etdEcj]$/.test(all[i - 1] ?? ''));
  const [query, path] = rest;
  const command = joinWords(argv);
  if (query === undefined) return { type: 'listFiles', command, path: null };
  return { type: 'search', command, query, path: path ?? null };
};

const git: Stage = (argv) => {
  const [, subcommand, ...rest] = argv;
  const command = joinWords(argv);
  const words = rest.filter((word) => !word.startsWith('-'));
  if (subcommand === 'ls-files') return { type: 'listFiles', command, path: words[0] ?? null };
  const plain = isSafeCommand(argv, { gitIsPlain: true });
  if (subcommand !== 'grep' || !plain) return undefined;
  return { type: 'search', command, query: words[0] ?? null, path: words[1] ?? null };
};

const STAGES: Readonly<Record<string, Stage>> = {
  cat: safeRead,
  head: safeRead,
  tail: safeRead,
  nl: safeRead,
  tac: safeRead,
  sed: safeRead,
  less: pager,
  more: pager,
  bat: pager,
  batcat: pager,
  ls: list,
  tree: list,
  du: list,
  rg: search,
  grep: search,
  egrep: search,
  fgrep: search,
  find,
  fd,
  fdfind: fd,
  git,
};

/**
 * Commands that only read and print, with the flags that make them do more. Under `untrusted` they run without a
 * question, always inside the sandbox. One row per program; everything not in the table is not safe.
 */
import { hasFlag, operands } from './flags.js';
import type { SegmentWord } from './lower/segment.js';

interface SafeRow {
  readonly programs: string;
  /** Flags that write, run, or reach the network. Any of them makes the command not safe. */
  readonly unless?: readonly string[];
  /** More words without dash than this make it not safe (`uniq IN OUT` writes OUT). */
  readonly maxOperands?: number;
  /** Every word must fit (`date +%s`). */
  readonly words?: RegExp;
}

export const SAFE_COMMANDS: readonly SafeRow[] = [
  {
    programs:
      'cat cd cut dirname basename echo expr false grep egrep fgrep head id ls nl paste pwd rev seq stat tac tail tr true wc which whoami',
  },
  {
    programs:
      'numfmt uname arch nproc groups tty logname users uptime free df realpath readlink cmp comm cksum sum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum',
  },
  {
    programs:
      ': [ test sleep jobs times umask wait exit return break continue shift pushd popd dirs type hash fold fmt expand unexpand column join tsort factor od hexdump strings ps pgrep',
  },
  { programs: 'base64 base32', unless: ['-o', '--output'] },
  { programs: 'date', words: /^(\+.*|-u|--utc|-R|-I\w*|--iso-8601(=\w+)?|-d.*|--date=.*)$/s },
  { programs: 'hostname', words: /^(-f|-s|-i|-I|--fqdn|--short)$/ },
  { programs: 'printf', unless: ['-v'] },
  { programs: 'set', words: /^(-[eux]+|\+[eux]+|-o|\+o|pipefail|errexit|nounset|xtrace|-[eux]*o)$/ },
  { programs: 'command', words: /^-[vV]$|^[^-]/, unless: [] },
  { programs: 'uniq', maxOperands: 1 },
  {
    programs: 'sort',
    unless: ['-o', '--output', '--compress-program', '-T', '--temporary-directory', '--files0-from'],
  },
  { programs: 'diff', unless: ['--to-file', '--from-file'] },
  { programs: 'du', unless: ['--files0-from'] },
  { programs: 'file', unless: ['-C', '--compile'] },
  { programs: 'tree', unless: ['-o', '-R'] },
  { programs: 'jq', unless: ['-L', '--library-path'] },
  { programs: 'rg', unless: ['--pre', '--pre-glob', '--hostname-bin', '--search-zip', '-z'] },
  {
    programs: 'find',
    unless: [
      '-exec',
      '-execdir',
      '-ok',
      '-okdir',
      '-delete',
      '-fls',
      '-fprint',
      '-fprint0',
      '-fprintf',
      '-files0-from',
    ],
  },
];

const ROWS = new Map(SAFE_COMMANDS.flatMap((row) => row.programs.split(' ').map((name) => [name, row] as const)));

/** Reading git commands. They still run what the repository's configuration names: see `gitIsPlain`. */
const SAFE_GIT: Readonly<Record<string, { readonly unless?: readonly string[]; readonly maxOperands?: number }>> = {
  status: {},
  log: { unless: ['--output', '--ext-diff', '--textconv'] },
  diff: { unless: ['--output', '--ext-diff', '--textconv'] },
  show: { unless: ['--output', '--ext-diff', '--textconv'] },
  'rev-parse': {},
  'ls-files': {},
  'ls-tree': {},
  'rev-list': {},
  blame: { unless: ['--textconv'] },
  describe: {},
  shortlog: { unless: ['--output'] },
  'merge-base': {},
  'for-each-ref': {},
  'cat-file': { unless: ['--textconv', '--filters', '--batch-command'] },
  grep: { unless: ['-O', '--open-files-in-pager', '--textconv', '--ext-grep'] },
  branch: {
    maxOperands: 0,
    unless: [
      '-d',
      '-D',
      '-m',
      '-M',
      '-c',
      '-C',
      '-f',
      '-u',
      '--delete',
      '--move',
      '--copy',
      '--force',
      '--edit-description',
      '--set-upstream-to',
      '--unset-upstream',
      '--track',
    ],
  },
  tag: { maxOperands: 0, unless: ['-a', '-s', '-d', '-f', '-m', '-F', '-u', '--delete', '--edit', '--sign'] },
  remote: { maxOperands: 0 },
};

export interface SafetyFacts {
  /** The repository's own configuration names no pager, filter, hook or other helper. Unknown counts as no. */
  readonly gitIsPlain?: boolean;
}

/** Does the command only read and print, whatever its words hold? */
export function isSafeCommand(argv: readonly string[], facts: SafetyFacts = {}): boolean {
  const [program, ...rest] = argv;
  if (program === undefined) return false;
  if (program === 'git') return facts.gitIsPlain === true && isSafeGit(rest);
  if (program === 'sed') return isPrintingSed(rest);
  if (program === 'command') return /^-[vV]$/.test(rest[0] ?? '');
  const row = ROWS.get(program);
  return row !== undefined && fits(row, argv);
}

function fits(row: SafeRow, argv: readonly SegmentWord[]): boolean {
  if (row.unless && row.unless.length > 0 && hasFlag(argv, ...row.unless)) return false;
  // `--pre` may be shortened; `--comp` must not slip past `--compress-program`.
  if (row.unless && argv.some((word) => typeof word === 'string' && isShortened(word, row.unless!))) return false;
  if (row.maxOperands !== undefined && operands(argv).length > row.maxOperands) return false;
  return !row.words || argv.slice(1).every((word) => typeof word === 'string' && row.words!.test(word));
}

function isShortened(word: string, flags: readonly string[]): boolean {
  if (!/^--[a-z0-9]/.test(word)) return false;
  const name = word.split('=')[0]!;
  return flags.some((flag) => flag.startsWith('--') && flag.startsWith(name));
}

function isSafeGit(rest: readonly string[]): boolean {
  const [subcommand = ''] = rest;
  const row = Object.hasOwn(SAFE_GIT, subcommand) ? SAFE_GIT[subcommand] : undefined;
  return row !== undefined && fits({ programs: 'git', ...row }, rest);
}

/** `sed -n 5p FILE` or `sed -n 1,5p FILE`: at most one file, no other flag. */
function isPrintingSed(rest: readonly string[]): boolean {
  const [quiet, script = '', file = '', ...more] = rest;
  return quiet === '-n' && /^(\d+|\d+,(\d+|\$))p$/.test(script) && more.length === 0 && !file.startsWith('-');
}

/**
 * The rule a person may keep when approving. It must take effect for the command at hand, and it is graded: the model's
 * own prefix when that is harmless, else the words of the first open command; of a script that is more than plain, only
 * program and subcommand. Interpreters, shells, network and privilege tools are never allowed as a whole program.
 */

import type { PolicyInput } from './decide-requirement.js';
import type { Judged, JudgedCommand } from './judge-segments.js';
import { FOREIGN_SHELLS, SHELLS } from './lower/launchers.js';
import { shellScript } from './lower/lower-command.js';
import type { Lowered, Segment } from './lower/segment.js';
import { baseName } from './rules/rule-functions.js';
import { isSafeCommand } from './safe-commands.js';
import { hasSubcommands } from './subcommands.js';

/** Whole-program rules for these would allow anything. */
const BROAD = new Set(
  (
    'python pypy node nodejs deno bun perl ruby irb php lua luajit julia Rscript R awk gawk mawk nawk osascript tclsh wish expect guile ghci jshell groovy scala kotlin py pyw pythonw ' +
    'ssh scp sftp rsync curl wget nc ncat netcat socat telnet ftp lftp ' +
    'sudo su doas pkexec run0 runuser chroot unshare nsenter systemd-run docker podman nerdctl env xargs exec eval command builtin trap source rm git make'
  ).split(/\s+/),
);
const CODE_FLAG = /^-(c|lc|ic|e|E|r|p|i|-eval|-print|-command|Command|EncodedCommand|File|f|ec|-|s|\/c|\/k)$/;
/** `npm run`, `bun run`: what runs is written in the project (Codex 0.171 bans these prefixes; others of the kind stay). */
const RUNNERS = new Set([
  'npm run',
  'pnpm run',
  'yarn run',
  'bun run',
  'deno eval',
  'py -3',
  'php -r',
  'cmd /c',
  'cmd /k',
  'cmd.exe /c',
  'cmd.exe /k',
]);

/** May a prefix be allowed for good? */
export function isTooBroad(prefix: readonly string[]): boolean {
  const [program, flag, ...rest] = prefix;
  if (program === undefined || program === '') return true;
  const base = baseName(program);
  const stem = base.replace(/[0-9.]+$/, '') || base;
  const interpreter = BROAD.has(base) || BROAD.has(stem) || SHELLS.has(base) || FOREIGN_SHELLS.has(base);
  if (flag === undefined) return interpreter;
  if (rest.length > 0) return false;
  if (RUNNERS.has(`${base} ${flag}`)) return true;
  return (
    interpreter &&
    base !== 'git' &&
    base !== 'rm' &&
    (CODE_FLAG.test(flag) || /^-[a-z]*c$/.test(flag)) &&
    !['docker', 'curl'].includes(base)
  );
}

/** The model's prefix, when adding it as a rule lets every segment run. */
export function fittingPrefix(
  prefix: readonly string[],
  input: PolicyInput,
  lowered: Lowered,
  judged: JudgedCommand,
): readonly string[] | undefined {
  if (prefix.length === 0 || isTooBroad(prefix) || judged.hits.some((hit) => hit.void === undefined)) return undefined;
  if (!lowered.plain && input.escalationRequested) return undefined;
  if (judged.questions.some(({ kind }) => kind === 'outside' || kind === 'unknown')) return undefined;
  const all = judged.segments
    .filter(({ segment }) => segment.parent === undefined)
    .every(
      ({ segment, cover, danger }) =>
        starts(segment, prefix, input) || (cover === 'none' ? !asksAlone(input) && !danger : true),
    );
  return all ? prefix : undefined;
}

/** Would a segment without a rule be asked about? */
function asksAlone(input: PolicyInput): boolean {
  const { mode } = input.sandbox;
  const restricted = mode === 'read-only' || mode === 'workspace-write';
  return input.approvalPolicy === 'untrusted' || (input.escalationRequested === true && restricted);
}

function starts(segment: Segment, prefix: readonly string[], input: PolicyInput): boolean {
  const { argv } = segment;
  if (!argv || segment.taint !== undefined) return false;
  const fits = (words: readonly string[]) => prefix.every((word, i) => words[i] === word);
  if (fits(argv)) return true;
  const [name = ''] = argv;
  const base = baseName(name);
  const trusted = input.policy.trustedDirectories.some((directory) => name === `${directory}/${base}`);
  return name.includes('/') && trusted && fits([base, ...argv.slice(1)]);
}

/** The first segment that has no rule's word: as it stands in a plain script, graded in a richer one. */
export function fallbackAmendment(
  input: PolicyInput,
  lowered: Lowered,
  judged: JudgedCommand,
): readonly string[] | undefined {
  const top = judged.segments.filter(({ segment }) => segment.parent === undefined);
  if (lowered.plain) {
    const asks = asksAlone(input) || input.policy.broken.length > 0;
    const first =
      top.find((item) => item.cover === 'none' && (asks || isDangerous(judged, item))) ??
      top.find(({ cover }) => cover === 'none');
    return first && plainWords(judged, first);
  }
  if (lowered.unknown.length > 0 || lowered.tooNested || input.escalationRequested) return undefined;
  if (judged.questions.some(({ kind }) => kind === 'outside' || kind === 'tainted' || kind === 'danger'))
    return undefined;
  const open = judged.segments.find(
    ({ segment, cover }) => cover === 'none' && !segment.transparent && segment.argv && segment.taint === undefined,
  );
  if (!open || judged.segments.some(({ segment, cover }) => cover === 'none' && !segment.argv)) return undefined;
  const graded = gradedPrefix(open.segment.argv!);
  return isTooBroad(graded) || open.danger ? undefined : graded;
}

/** The words themselves; of a shell with a script, what the script begins with. */
function plainWords(judged: JudgedCommand, { segment }: Judged): readonly string[] | undefined {
  const { argv } = segment;
  if (!argv || segment.taint !== undefined) return undefined;
  if (!shellScript(argv) && !SHELL_TEXT.test(argv.slice(0, 4).join('\0'))) return isTooBroad(argv) ? undefined : argv;
  const index = judged.segments.findIndex((other) => other.segment === segment);
  const inner = judged.segments.find((other) => other.cover === 'none' && ancestor(judged, other.segment, index));
  if (!inner?.segment.argv || inner.danger || SHELLS.has(baseName(inner.segment.argv[0] ?? ''))) return undefined;
  const graded = gradedPrefix(inner.segment.argv);
  return isTooBroad(graded) ? undefined : graded;
}

/** A shell with `-c` in any spelling: its next word is a whole script. */
const SHELL_TEXT = /^([^\0]*\/)?(ba|da|z|k|a|mk|rba)?sh\0([^\0]*\0)*-[a-zA-Z]*c\0/;

function isDangerous(judged: JudgedCommand, item: Judged): boolean {
  const index = judged.segments.indexOf(item);
  return judged.segments.some(
    ({ segment, danger }, i) => danger !== undefined && (i === index || ancestor(judged, segment, index)),
  );
}

function ancestor(judged: JudgedCommand, segment: Segment, index: number): boolean {
  for (let at = segment.parent; at !== undefined; at = judged.segments[at]?.segment.parent)
    if (at === index) return true;
  return false;
}

/** `gh run view` of `gh run view 1`, `ls` of `ls -la`: as much as names what is done. Anything else stays whole. */
export function gradedPrefix(argv: readonly string[]): readonly string[] {
  const [program = ''] = argv;
  const base = baseName(program);
  if (hasSubcommands(base)) {
    const end = argv.findIndex((word, i) => i > 0 && !/^[a-z][a-z-]*$/.test(word));
    const depth = DEEP.has(base) ? 3 : 2;
    const length = Math.min(end === -1 ? argv.length : end, depth);
    return length > 1 ? argv.slice(0, length) : argv;
  }
  return isSafeCommand(argv) ? [program] : argv;
}

/** Programs whose second word is only a group (`gh run view`). */
const DEEP = new Set(['gh', 'glab', 'aws', 'gcloud', 'az', 'docker', 'podman', 'kubectl']);

/**
 * Commands that destroy. Graded by effect and reach:
 *
 * - `forced`: `rm -f` in the forms the recorded program knows (Codex 0.171). Asks in every sandbox; refused under `never`.
 * - `catastrophic`: reaches a disk, the system or everything a person has. Asks in every sandbox; refused under `never`.
 * - `destructive`: deletes or overwrites beyond recall. Contained by a sandbox; without one it asks.
 */
import { hasFlag, operands } from './flags.js';
import { type SegmentWord, wordText } from './lower/segment.js';
import { baseName } from './rules/rule-functions.js';

export type DangerGrade = 'forced' | 'catastrophic' | 'destructive';

export interface Danger {
  readonly grade: DangerGrade;
  /** `deletes files`, for a person. */
  readonly what: string;
}

interface DangerRow {
  readonly programs: string;
  readonly subcommand?: string;
  /** One of these flags must be there. */
  readonly with?: readonly string[];
  readonly without?: readonly string[];
  /** A word must fit. */
  readonly word?: RegExp;
  readonly grade: DangerGrade;
  readonly what: string;
}

export const DANGEROUS_COMMANDS: readonly DangerRow[] = [
  {
    programs: 'mkfs mke2fs mkswap fdisk sfdisk cfdisk gdisk sgdisk parted wipefs blkdiscard cryptsetup',
    grade: 'catastrophic',
    what: 'rewrites a disk',
  },
  {
    programs: 'dd tee cp shred',
    word: /^(of=)?\/dev\/(sd|hd|vd|xvd|nvme|mmcblk|disk|mapper|md|loop)/,
    grade: 'catastrophic',
    what: 'rewrites a disk',
  },
  { programs: 'shutdown reboot halt poweroff', grade: 'catastrophic', what: 'stops the machine' },
  {
    programs: 'systemctl',
    word: /^(poweroff|reboot|halt|kexec|emergency|rescue)$/,
    grade: 'catastrophic',
    what: 'stops the machine',
  },
  { programs: 'kill', word: /^-1$/, with: ['-9', '-KILL', '-s'], grade: 'catastrophic', what: 'kills every process' },
  {
    programs: 'rm rmdir unlink srm wipe',
    without: ['--help', '--version'],
    grade: 'destructive',
    what: 'deletes files',
  },
  { programs: 'shred', without: ['--help', '--version'], grade: 'destructive', what: 'overwrites files' },
  { programs: 'dd', word: /^of=/, grade: 'destructive', what: 'overwrites its output' },
  { programs: 'truncate', without: ['--help', '--version'], grade: 'destructive', what: 'cuts files' },
  { programs: 'find gfind', with: ['-delete'], grade: 'destructive', what: 'deletes what it finds' },
  {
    programs: 'rsync',
    with: [
      '--delete',
      '--delete-before',
      '--delete-after',
      '--delete-during',
      '--delete-excluded',
      '--remove-source-files',
    ],
    grade: 'destructive',
    what: 'deletes files',
  },
  { programs: 'rclone', word: /^(sync|delete|purge|deletefile|rmdirs)$/, grade: 'destructive', what: 'deletes files' },
  { programs: 'chmod chown chgrp', with: ['-R', '--recursive'], grade: 'destructive', what: 'changes a whole tree' },
  {
    programs: 'git',
    subcommand: 'clean',
    with: ['-f', '--force'],
    without: ['-n', '--dry-run'],
    grade: 'destructive',
    what: 'deletes untracked files',
  },
  { programs: 'git', subcommand: 'rm', grade: 'destructive', what: 'deletes files' },
  { programs: 'git', subcommand: 'reset', with: ['--hard', '--merge'], grade: 'destructive', what: 'discards changes' },
  {
    programs: 'git',
    subcommand: 'checkout',
    with: ['-f', '--force', '--'],
    grade: 'destructive',
    what: 'discards changes',
  },
  { programs: 'git', subcommand: 'checkout', word: /^(\.|--)$/, grade: 'destructive', what: 'discards changes' },
  {
    programs: 'git',
    subcommand: 'switch',
    with: ['-f', '--force', '--discard-changes'],
    grade: 'destructive',
    what: 'discards changes',
  },
  { programs: 'git', subcommand: 'restore', grade: 'destructive', what: 'discards changes' },
  {
    programs: 'git',
    subcommand: 'push',
    with: ['-f', '--force', '--force-with-lease', '--mirror', '--delete', '-d', '--prune'],
    grade: 'destructive',
    what: 'rewrites the remote',
  },
  { programs: 'git', subcommand: 'push', word: /^[+:]/, grade: 'destructive', what: 'rewrites the remote' },
  { programs: 'git', subcommand: 'branch', with: ['-D'], grade: 'destructive', what: 'drops a branch' },
  { programs: 'git', subcommand: 'stash', word: /^(drop|clear)$/, grade: 'destructive', what: 'drops stashed changes' },
  { programs: 'git', subcommand: 'reflog', word: /^(expire|delete)$/, grade: 'destructive', what: 'drops history' },
  { programs: 'git', subcommand: 'filter-branch', grade: 'destructive', what: 'rewrites history' },
  { programs: 'git', subcommand: 'worktree', word: /^remove$/, grade: 'destructive', what: 'deletes a work tree' },
  { programs: 'docker podman', word: /^(prune|rm|rmi)$/, grade: 'destructive', what: 'deletes containers or images' },
  {
    programs: 'docker podman',
    word: /^down$/,
    with: ['-v', '--volumes'],
    grade: 'destructive',
    what: 'deletes volumes',
  },
  {
    programs: 'kubectl oc',
    word: /^(delete|drain|replace)$/,
    without: ['--dry-run'],
    grade: 'destructive',
    what: 'deletes resources',
  },
  {
    programs: 'helm',
    word: /^(uninstall|delete|rollback)$/,
    without: ['--dry-run'],
    grade: 'destructive',
    what: 'deletes a release',
  },
  {
    programs: 'terraform tofu pulumi',
    word: /^(destroy|apply)$/,
    grade: 'destructive',
    what: 'changes infrastructure',
  },
  { programs: 'aws', word: /^(rm|rb|delete-.*|terminate-.*)$/, grade: 'destructive', what: 'deletes resources' },
  { programs: 'gcloud az', word: /^(delete|purge)$/, grade: 'destructive', what: 'deletes resources' },
  {
    programs: 'npm pnpm yarn cargo',
    word: /^(publish|unpublish|yank)$/,
    without: ['--dry-run', '-n'],
    grade: 'destructive',
    what: 'publishes',
  },
  { programs: 'dropdb dropuser', grade: 'destructive', what: 'drops a database' },
  { programs: 'crontab', with: ['-r'], grade: 'destructive', what: 'deletes the crontab' },
  { programs: 'userdel groupdel deluser', grade: 'destructive', what: 'deletes an account' },
  {
    programs: 'iptables ip6tables nft ufw',
    word: /^(-F|--flush|flush|reset|disable)$/,
    grade: 'destructive',
    what: 'drops firewall rules',
  },
];

const ROWS = new Map<string, DangerRow[]>();
for (const row of DANGEROUS_COMMANDS) {
  for (const name of row.programs.split(' ')) ROWS.set(name, [...(ROWS.get(name) ?? []), row]);
}
/** Deleting one of these is deleting more than a project. */
const CRITICAL =
  /^(\/|\/\*|\/(bin|boot|dev|etc|home|lib|lib64|opt|proc|root|sbin|srv|sys|usr|var|Users|System|Library)\/?\*?|~\/?\*?|"?\$\{?HOME\}?"?(\/\*?)?|\.\.\/?\*?|\/home\/[^/]+\/?)$/;

/** The worst that the command itself does. What it starts is looked at on its own. */
export function assessDanger(words: readonly SegmentWord[]): Danger | undefined {
  const [first] = words;
  if (typeof first !== 'string') return undefined;
  const name = baseName(first);
  if (name === 'rm' && isForced(words)) {
    return reaches(words)
      ? { grade: 'catastrophic', what: 'deletes what a system or a person lives on' }
      : { grade: 'forced', what: 'deletes files without asking' };
  }
  const rows = ROWS.get(name) ?? (/^mkfs\./.test(name) ? ROWS.get('mkfs') : undefined);
  const row = rows?.find((candidate) => applies(candidate, words));
  if (!row) return undefined;
  const wide =
    /^(rm|chmod|chown|chgrp|shred)$/.test(name) && hasFlag(words, '-r', '-R', '--recursive') && reaches(words);
  return wide
    ? { grade: 'catastrophic', what: `${row.what} that a system or a person lives on` }
    : { grade: row.grade, what: row.what };
}

/** `--force`, or a short cluster with `f`, before `--`. */
function isForced(words: readonly SegmentWord[]): boolean {
  for (const word of words.slice(1)) {
    if (word === '--') return false;
    if (typeof word === 'string' && (word === '--force' || /^-[^-]*f/.test(word))) return true;
  }
  return false;
}

function reaches(words: readonly SegmentWord[]): boolean {
  return operands(words).some((word) => CRITICAL.test(wordText(word)));
}

function applies(row: DangerRow, words: readonly SegmentWord[]): boolean {
  if (row.subcommand !== undefined && !words.includes(row.subcommand)) return false;
  if (row.with && !row.with.some((flag) => (flag === '--' ? words.includes('--') : hasFlag(words, flag)))) return false;
  if (row.without && hasFlag(words, ...row.without)) return false;
  return !row.word || words.slice(1).some((word) => typeof word === 'string' && row.word!.test(word));
}

/** From a plan to bubblewrap's arguments. Pure. The order is the meaning: a later mount covers an earlier one. */
import type { Entry } from '../plan/entries.js';

export interface BwrapOptions {
  readonly entries: readonly Entry[];
  /** Canonical; only `--chdir`, never a root. */
  readonly cwd: string;
  /** With a terminal the session must be kept, or the command loses Ctrl-C and job control. */
  readonly tty: boolean;
  /** Path of bash, where there is one. Only used with a terminal. */
  readonly bash?: string;
  /** A network namespace of its own; false with full network and when joining a session's namespace. */
  readonly unshareNetwork: boolean;
  readonly seccompFd: number;
  /** Descriptor that receives the status of the sandbox as JSON lines; absent with a terminal. */
  readonly statusFd?: number;
  readonly deniedFile: string;
  readonly proc: ProcFacts;
}

/** What `/proc` needs beyond being mounted anew. */
export interface ProcFacts {
  /** Directories and files to bind read-only over the new `/proc`. */
  readonly readOnly: readonly string[];
  /** Files to replace by `/dev/null`. */
  readonly masked: readonly string[];
  /** Bind the host's `/proc` read-only instead of mounting a new one (nested containers). */
  readonly fromHost: boolean;
}

/**
 * The first process is pid 1 and carries the filter, so it must be ours: it reaps orphans and turns a signal death
 * into 128+n. The trailing `exit` keeps the shell from becoming the command itself.
 *
 * On a terminal the command gets its own foreground group, so that Ctrl-C reaches it and not the sandbox around it.
 * That takes bash: dash and busybox fail on leaving, when they give the terminal back to a group outside that they
 * cannot name. Without bash, Ctrl-C ends the whole sandbox.
 */
function init({ tty, bash }: Pick<BwrapOptions, 'tty' | 'bash'>): string[] {
  if (tty && bash !== undefined) return [bash, '--norc', '-c', 'set -m; "$@"; exit $?', 'init'];
  return ['/bin/sh', '-c', '"$@"; exit $?', 'init'];
}

export function bwrapArgv(options: BwrapOptions, argv: readonly string[]): string[] {
  return [
    '--as-pid-1',
    '--die-with-parent',
    ...(options.tty ? [] : ['--new-session']),
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...['--cap-drop', 'ALL'],
    ...(options.unshareNetwork ? ['--unshare-net'] : []),
    ...['--ro-bind', '/', '/', '--dev', '/dev'],
    ...options.entries.flatMap((entry) => mount(entry, options.deniedFile)),
    ...procMounts(options.proc),
    ...['--chdir', options.cwd],
    ...['--seccomp', String(options.seccompFd)],
    ...(options.statusFd === undefined ? [] : ['--json-status-fd', String(options.statusFd)]),
    '--',
    ...init(options),
    ...argv,
  ];
}

function mount({ path, access, shape, optional }: Entry, deniedFile: string): string[] {
  const maybe = optional === true ? '-try' : '';
  switch (access) {
    case 'write':
      return [`--bind${maybe}`, path, path];
    case 'read':
      return [`--ro-bind${maybe}`, path, path];
    case 'deny':
      return shape === 'file'
        ? ['--ro-bind', deniedFile, path]
        : ['--perms', '0000', '--tmpfs', path, '--remount-ro', path];
  }
}

function procMounts(proc: ProcFacts): string[] {
  return [
    ...(proc.fromHost ? ['--ro-bind', '/proc', '/proc'] : ['--proc', '/proc']),
    ...proc.readOnly.flatMap((path) => ['--ro-bind', path, path]),
    ...proc.masked.flatMap((path) => ['--ro-bind', '/dev/null', path]),
  ];
}

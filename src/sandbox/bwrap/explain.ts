/** What a failed start of bubblewrap means, and what to do about it. Pure. */

export type ProbeCause =
  | 'missing'
  | 'userns'
  | 'capability'
  | 'network'
  | 'proc'
  | 'mount'
  | 'seccomp'
  | 'too-old'
  | 'unsupported'
  | 'unknown';

export interface ProbeFailure {
  readonly cause: ProbeCause;
  /** What is wrong, one clause. */
  readonly what: string;
  /** What the person can do. */
  readonly fix: string;
}

const USERNS_FIX =
  'allow user namespaces (sysctl user.max_user_namespaces > 0, kernel.unprivileged_userns_clone=1; on Ubuntu ' +
  'kernel.apparmor_restrict_unprivileged_userns=0 or an AppArmor profile with `userns,` for /usr/bin/bwrap; in a ' +
  'container run it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined)';

interface Sign extends ProbeFailure {
  readonly pattern: RegExp;
}

const SIGNS: readonly Sign[] = [
  {
    pattern: /uid map: Operation not permitted/i,
    cause: 'capability',
    what: 'this root user lacks CAP_SETFCAP, so it cannot map itself into a user namespace',
    fix: 'add CAP_SETFCAP to the container or run as an ordinary user',
  },
  {
    pattern: /No permissions to creat|uid map: Permission denied|Creating new namespace failed|gid map|user namespace/i,
    cause: 'userns',
    what: 'the kernel refuses user namespaces to bubblewrap',
    fix: USERNS_FIX,
  },
  {
    pattern: /loopback|RTM_NEWADDR|RTM_NEWLINK|NEWLINK|NETLINK_ROUTE/i,
    cause: 'network',
    what: 'a network namespace cannot be set up here',
    fix: 'allow network namespaces, or configure network access "full"',
  },
  {
    pattern: /mount proc|\/newroot\/proc/i,
    cause: 'proc',
    what: 'a new /proc cannot be mounted (a container masks the host /proc)',
    fix: 'run the container with --security-opt systempaths=unconfined',
  },
  {
    pattern: /make \/ slave|setting up mount|Failed to mount|pivot_root|remount/i,
    cause: 'mount',
    what: 'mounts cannot be changed here',
    fix: 'give the container CAP_SYS_ADMIN or run it with --security-opt apparmor=unconfined',
  },
  {
    pattern: /seccomp|PR_SET_SECCOMP/i,
    cause: 'seccomp',
    what: 'the kernel does not accept a seccomp filter',
    fix: 'use a kernel with CONFIG_SECCOMP_FILTER',
  },
  {
    pattern: /Unknown option/i,
    cause: 'too-old',
    what: 'this bubblewrap is too old (0.8 or later is needed)',
    fix: 'install bubblewrap 0.8 or later',
  },
];

export const BWRAP_MISSING: ProbeFailure = {
  cause: 'missing',
  what: 'bubblewrap (bwrap) is not installed',
  fix: 'install it (apt install bubblewrap, dnf install bubblewrap, apk add bubblewrap)',
};

export function explainProbe(stderr: string): ProbeFailure {
  const sign = SIGNS.find(({ pattern }) => pattern.test(stderr));
  if (sign !== undefined) return { cause: sign.cause, what: sign.what, fix: sign.fix };
  const line = stderr.trim().split('\n').pop() ?? '';
  return {
    cause: 'unknown',
    what: `bubblewrap does not start (${line || 'it gave no reason'})`,
    fix: 'run `turnwright doctor` and see what it finds',
  };
}

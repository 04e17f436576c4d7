/**
 * What Landlock can express. It allows by hierarchy and only ever adds rights, so it cannot deny a path inside a
 * writable root, hide a file, or give private directories. Pure.
 */
import type { ResolvedPolicy } from '../plan/policy.js';

export interface LandlockRules {
  /** Rights that are refused unless a path grants them. */
  readonly handled: number;
  /** Bits for abstract sockets and signals to outside processes; 0 before ABI 6. */
  readonly scoped: number;
  readonly grants: readonly { readonly path: string; readonly rights: number }[];
  readonly filter: {
    readonly unixSockets: 'deny' | 'allow';
    readonly inet: 'deny' | 'allow';
    /** Refuse changes of mode, owner, times and attributes, which Landlock does not see. */
    readonly metadata: 'deny' | 'allow';
  };
}

export type LandlockChoice =
  | { readonly ok: true; readonly rules: LandlockRules }
  | { readonly ok: false; readonly why: string };

const WRITE_FILE = 1 << 1;
const REMOVE_DIR = 1 << 4;
const REMOVE_FILE = 1 << 5;
const MAKE = (1 << 6) | (1 << 7) | (1 << 8) | (1 << 9) | (1 << 10) | (1 << 11) | (1 << 12);
const REFER = 1 << 13;
const TRUNCATE = 1 << 14;
const IOCTL_DEV = 1 << 15;
const SCOPE_ALL = 0b11;
/** Devices every program may write to. */
const DEVICES = [
  '/dev/null',
  '/dev/zero',
  '/dev/full',
  '/dev/random',
  '/dev/urandom',
  '/dev/tty',
  '/dev/ptmx',
  '/dev/pts',
];

export function landlockRules(policy: ResolvedPolicy, abi: number): LandlockChoice {
  const why = whyNot(policy, abi);
  if (why !== undefined) return { ok: false, why };
  const handled = handledRights(abi);
  const device = (WRITE_FILE | TRUNCATE | IOCTL_DEV) & handled;
  return {
    ok: true,
    rules: {
      handled,
      scoped: abi >= 6 ? SCOPE_ALL : 0,
      grants: [
        ...DEVICES.map((path) => ({ path, rights: device })),
        ...policy.roots.map((path) => ({ path, rights: handled & ~IOCTL_DEV })),
      ],
      filter: {
        unixSockets: policy.unixSockets === 'allow' ? 'allow' : 'deny',
        inet: policy.network.kind === 'full' ? 'allow' : 'deny',
        metadata: policy.mode === 'read-only' ? 'deny' : 'allow',
      },
    },
  };
}

function whyNot(policy: ResolvedPolicy, abi: number): string | undefined {
  if (!(abi >= 1)) return 'the kernel has no Landlock';
  if (policy.denyRead.length > 0) return 'it cannot hide files (deny_read)';
  if (policy.network.kind === 'proxied') return 'it cannot allow single hosts';
  if (policy.unixSockets === 'private') return 'it cannot give private unix sockets';
  if (policy.mode === 'workspace-write' && !policy.landlockFallback) {
    return 'it cannot protect .git and the like inside a writable root (sandbox.linux.landlock_fallback = true accepts that)';
  }
  return undefined;
}

function handledRights(abi: number): number {
  return (
    WRITE_FILE |
    REMOVE_DIR |
    REMOVE_FILE |
    MAKE |
    (abi >= 2 ? REFER : 0) |
    (abi >= 3 ? TRUNCATE : 0) |
    (abi >= 5 ? IOCTL_DEV : 0)
  );
}

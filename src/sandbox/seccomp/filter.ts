/** The seccomp program of a sandbox: everything is allowed but what would undo the sandbox or reach round it. */
import {
  ALLOW,
  and,
  encode,
  errno,
  give,
  type Instruction,
  KILL_PROCESS,
  loadArch,
  loadArgument,
  loadNumber,
  unlessEqual,
  whenAnyBit,
  whenAtLeast,
  whenEqual,
} from './bpf.js';
import {
  ABSENT_CALLS,
  type CallNumbers,
  CLONE,
  CONNECTION_CALLS,
  DEBUGGER_CALLS,
  IOCTL,
  MACHINE_CALLS,
  METADATA_CALLS,
  MOUNT_CALLS,
  SOCKET,
  SOCKETPAIR,
  SURFACE_CALLS,
  UNSHARE,
} from './syscalls.js';

export type FilterArch = 'x64' | 'arm64';

export interface FilterOptions {
  readonly arch: FilterArch;
  /** `deny`: no AF_UNIX socket and no datagram pair (its ends can send to any path). */
  readonly unixSockets: 'deny' | 'allow';
  /** `deny`: no network namespace protects the host, so no socket may connect, bind or accept. */
  readonly inet: 'allow' | 'deny';
  /** Without a pid namespace, other processes of the user must not be traced. */
  readonly debuggers: boolean;
  /** `deny`: changes of mode, owner, times and attributes fail as on a read-only file system. Default allow. */
  readonly metadata?: 'allow' | 'deny';
  /** Refuse new user namespaces. Default true; they widen the kernel's attack surface. */
  readonly refuseUserNamespaces?: boolean;
}

const EPERM = errno(1);
const ENOSYS = errno(38);
const EROFS = errno(30);
const EAFNOSUPPORT = errno(97);
const AUDIT_ARCH = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
const X32_BIT = 0x40000000;
const CLONE_NEWUSER = 0x10000000;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const SOCK_TYPE_MASK = 0xf;

/** The architecture's name here, or undefined when no filter can be built for it. */
export function filterArch(arch: string): FilterArch | undefined {
  return arch === 'x64' || arch === 'arm64' ? arch : undefined;
}

const built = new Map<string, Buffer>();

/** The program as bytes for `bwrap --seccomp` and `prctl(PR_SET_SECCOMP)`. Built once per set of options. */
export function buildFilter(options: FilterOptions): Buffer {
  const key = JSON.stringify(options);
  const program = built.get(key) ?? assemble(options);
  built.set(key, program);
  return program;
}

function assemble(options: FilterOptions): Buffer {
  const number = (call: CallNumbers): number | undefined => call[options.arch === 'x64' ? 0 : 1];
  const refuse = (calls: readonly CallNumbers[], result: number): Instruction[] =>
    calls.flatMap((call) => on(number(call), [give(result)]));
  const userNamespaces =
    (options.refuseUserNamespaces ?? true) ? [CLONE, UNSHARE].flatMap((call) => on(number(call), refuseNewUser())) : [];
  return encode([
    loadArch(),
    ...unlessEqual(AUDIT_ARCH[options.arch], [give(KILL_PROCESS)]),
    loadNumber(),
    ...(options.arch === 'x64' ? whenAtLeast(X32_BIT, [give(ENOSYS)]) : []),
    ...on(number(SOCKET), socketRules(options)),
    ...on(number(SOCKETPAIR), socketPairRules(options)),
    ...on(number(IOCTL), terminalRules()),
    ...userNamespaces,
    ...refuse(MOUNT_CALLS, EPERM),
    ...refuse(SURFACE_CALLS, EPERM),
    ...refuse(MACHINE_CALLS, EPERM),
    ...refuse(ABSENT_CALLS, ENOSYS),
    ...(options.debuggers ? [] : refuse(DEBUGGER_CALLS, EPERM)),
    ...(options.inet === 'deny' ? refuse(CONNECTION_CALLS, EPERM) : []),
    ...(options.metadata === 'deny' ? refuse(METADATA_CALLS, EROFS) : []),
    give(ALLOW),
  ]);
}

function on(number: number | undefined, body: readonly Instruction[]): Instruction[] {
  return number === undefined ? [] : whenEqual(number, body);
}

function refuseNewUser(): Instruction[] {
  return [loadArgument(0), ...whenAnyBit(CLONE_NEWUSER, [give(EPERM)]), give(ALLOW)];
}

/** TIOCSTI and TIOCLINUX type into the terminal of the person watching. */
function terminalRules(): Instruction[] {
  return [loadArgument(1), ...whenEqual(TIOCSTI, [give(EPERM)]), ...whenEqual(TIOCLINUX, [give(EPERM)]), give(ALLOW)];
}

function socketRules(options: FilterOptions): Instruction[] {
  const inet =
    options.inet === 'deny'
      ? [give(EPERM)]
      : [
          loadArgument(1),
          and(SOCK_TYPE_MASK),
          ...whenEqual(SOCK_STREAM, [give(ALLOW)]),
          ...whenEqual(SOCK_DGRAM, [give(ALLOW)]),
          give(EPERM),
        ];
  const netlink =
    options.inet === 'deny' ? [give(EPERM)] : [loadArgument(2), ...whenEqual(0, [give(ALLOW)]), give(EAFNOSUPPORT)];
  return [
    loadArgument(0),
    ...whenEqual(AF_UNIX, [give(options.unixSockets === 'allow' ? ALLOW : EPERM)]),
    ...whenEqual(AF_INET, inet),
    ...whenEqual(AF_INET6, inet),
    ...whenEqual(AF_NETLINK, netlink),
    give(EAFNOSUPPORT),
  ];
}

function socketPairRules(options: FilterOptions): Instruction[] {
  const datagram = options.unixSockets === 'allow' ? [] : whenEqual(SOCK_DGRAM, [give(EPERM)]);
  return [
    loadArgument(0),
    ...unlessEqual(AF_UNIX, [give(EAFNOSUPPORT)]),
    loadArgument(1),
    and(SOCK_TYPE_MASK),
    ...datagram,
    give(ALLOW),
  ];
}

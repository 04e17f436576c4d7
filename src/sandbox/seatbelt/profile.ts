/**
 * macOS: a plan as a profile for `/usr/bin/sandbox-exec`. Paths go in as parameters, never as text. Pure.
 * The last matching rule wins, so refusals stand at the end.
 */

import { isBelow } from '../paths.js';
import type { Entry } from '../plan/entries.js';

export interface SeatbeltOptions {
  readonly entries: readonly Entry[];
  /** A port: only the proxy on this host can be reached. */
  readonly network: 'off' | 'full' | { readonly proxyPort: number };
  readonly unixSockets: boolean;
}

export interface SeatbeltProfile {
  readonly text: string;
  readonly params: readonly (readonly [name: string, value: string])[];
}

/** Always this path: another `sandbox-exec` on PATH is not trusted. */
export const SANDBOX_EXEC = '/usr/bin/sandbox-exec';

export function seatbeltProfile(options: SeatbeltOptions): SeatbeltProfile {
  const params: [string, string][] = [];
  const lines = [
    ...BASE,
    ...options.entries.filter(isWrite).flatMap((entry, index) => writeRule(entry, index, options, params)),
    ...networkRules(options),
    ...denyRules(options, params),
  ];
  return { text: `${lines.join('\n')}\n`, params };
}

export function seatbeltArgv(profile: SeatbeltProfile, argv: readonly string[]): string[] {
  const definitions = profile.params.flatMap(([name, value]) => ['-D', `${name}=${value}`]);
  return [SANDBOX_EXEC, '-p', profile.text, ...definitions, '--', ...argv];
}

const SYSCTLS = [
  'hw.activecpu',
  'hw.byteorder',
  'hw.cacheconfig',
  'hw.cachelinesize_compat',
  'hw.cpufamily',
  'hw.cputype',
  'hw.l1dcachesize_compat',
  'hw.l1icachesize_compat',
  'hw.l2cachesize_compat',
  'hw.l3cachesize_compat',
  'hw.logicalcpu',
  'hw.logicalcpu_max',
  'hw.machine',
  'hw.memsize',
  'hw.model',
  'hw.ncpu',
  'hw.nperflevels',
  'hw.packages',
  'hw.pagesize',
  'hw.pagesize_compat',
  'hw.physicalcpu',
  'hw.physicalcpu_max',
  'hw.tbfrequency_compat',
  'hw.vectorunit',
  'kern.argmax',
  'kern.hostname',
  'kern.maxfilesperproc',
  'kern.maxproc',
  'kern.osproductversion',
  'kern.osrelease',
  'kern.ostype',
  'kern.osvariant_status',
  'kern.osversion',
  'kern.secure_kernel',
  'kern.usrstack64',
  'kern.version',
  'machdep.cpu.brand_string',
  'sysctl.proc_cputype',
  'vm.loadavg',
];

const BASE = [
  '(version 1)',
  '(deny default)',
  '(allow process-exec)',
  '(allow process-fork)',
  '(allow signal (target same-sandbox))',
  '(allow process-info* (target same-sandbox))',
  '(allow sysctl-read',
  ...SYSCTLS.map((name) => `  (sysctl-name "${name}")`),
  '  (sysctl-name-prefix "hw.optional.")',
  '  (sysctl-name-prefix "hw.perflevel")',
  '  (sysctl-name-prefix "kern.proc."))',
  '(allow ipc-posix-sem)',
  '(allow ipc-posix-shm)',
  '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))',
  '(allow iokit-open (iokit-registry-entry-class "RootDomainUserClient"))',
  '(allow pseudo-tty)',
  '(allow file-read*)',
  '(allow file-ioctl file-write* (literal "/dev/ptmx") (literal "/dev/tty") (regex #"^/dev/ttys[0-9]+$"))',
  '(allow file-write-data (require-all (literal "/dev/null") (vnode-type CHARACTER-DEVICE)))',
  '(allow file-write-data (require-all (literal "/dev/zero") (vnode-type CHARACTER-DEVICE)))',
];

function isWrite(entry: Entry): boolean {
  return entry.access === 'write';
}

/** Both `literal` and `subpath` are excluded, so that a missing protected directory cannot be created. */
function writeRule(entry: Entry, index: number, options: SeatbeltOptions, params: [string, string][]): string[] {
  const name = `W_${index}`;
  params.push([name, entry.path]);
  const below = options.entries.filter((other) => !isWrite(other) && isBelow(other.path, entry.path));
  const excluded = below.flatMap(({ path }, position) => {
    const inner = `${name}_X_${position}`;
    params.push([inner, path]);
    return [`  (require-not (literal (param "${inner}")))`, `  (require-not (subpath (param "${inner}")))`];
  });
  return ['(allow file-write* (require-all', `  (subpath (param "${name}"))`, ...excluded, '))'];
}

function networkRules({ network, unixSockets }: SeatbeltOptions): string[] {
  const sockets = unixSockets ? ['(allow network* (local unix-socket) (remote unix-socket))'] : [];
  if (network === 'off') return sockets;
  if (network === 'full') {
    const service = 'com.apple.SecurityServer com.apple.networkd com.apple.trustd.agent com.apple.dnssd.service';
    return [
      '(allow network-outbound (remote ip))',
      '(allow network-inbound (local ip))',
      '(allow network-bind (local ip))',
      '(allow system-socket)',
      '(allow network-outbound (literal "/private/var/run/mDNSResponder"))',
      `(allow mach-lookup ${service
        .split(' ')
        .map((name) => `(global-name "${name}")`)
        .join(' ')})`,
      ...sockets,
    ];
  }
  return [`(allow network-outbound (remote ip "localhost:${network.proxyPort}"))`, ...sockets];
}

/** Roots and the ancestors of what is protected may not be renamed away; denied paths are not even read. */
function denyRules(options: SeatbeltOptions, params: [string, string][]): string[] {
  const held = options.entries.filter(isWrite).map(({ path }, index) => {
    params.push([`P_${index}`, path]);
    return `(deny file-write-unlink (literal (param "P_${index}")))`;
  });
  const denied = options.entries
    .filter(({ access }) => access === 'deny')
    .map(({ path }, index) => {
      params.push([`D_${index}`, path]);
      return `(deny file-read* file-write* (subpath (param "D_${index}")))`;
    });
  return [...held, ...denied];
}

import { describe, expect, it } from 'vitest';
import { buildFilter, type FilterArch, type FilterOptions } from './filter.js';

interface Call {
  readonly nr: number;
  readonly args?: readonly number[];
  readonly arch?: number;
}

const ARCH = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;

/** Runs a program as the kernel does. */
function verdict(program: Buffer, call: Call & { readonly arch: number }): string {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.nr >>> 0, 0);
  data.writeUInt32LE(call.arch, 4);
  for (const [index, value] of (call.args ?? []).entries()) data.writeUInt32LE(value >>> 0, 16 + index * 8);
  let word = 0;
  for (let at = 0; ; at++) {
    const code = program.readUInt16LE(at * 8);
    const k = program.readUInt32LE(at * 8 + 4);
    const jump = (taken: boolean): void => void (at += program.readUInt8(at * 8 + (taken ? 2 : 3)));
    if (code === 0x20) word = data.readUInt32LE(k);
    else if (code === 0x54) word = (word & k) >>> 0;
    else if (code === 0x15) jump(word === k);
    else if (code === 0x35) jump(word >= k);
    else if (code === 0x45) jump((word & k) !== 0);
    else if (code === 0x06) return k === 0x7fff0000 ? 'allow' : k === 0x80000000 ? 'kill' : `errno ${k & 0xffff}`;
    else throw new Error(`unknown instruction ${code}`);
  }
}

const STRICT: Omit<FilterOptions, 'arch'> = { unixSockets: 'deny', inet: 'allow', debuggers: true };

function run(arch: FilterArch, call: Call, over: Partial<FilterOptions> = {}): string {
  return verdict(buildFilter({ ...STRICT, arch, ...over }), { arch: ARCH[arch], ...call });
}

/** name, [x64 number, arm64 number], arguments, verdict, options */
const ROWS: readonly [string, readonly [number, number], readonly number[], string, Partial<FilterOptions>?][] = [
  ['read', [0, 63], [], 'allow'],
  ['mount', [165, 40], [], 'errno 1'],
  ['the new mount interface', [430, 430], [], 'errno 1'],
  ['setns', [308, 268], [], 'errno 1'],
  ['bpf', [321, 280], [], 'errno 1'],
  ['open_by_handle_at', [304, 265], [], 'errno 1'],
  ['io_uring looks absent', [425, 425], [], 'errno 38'],
  ['keyrings look absent', [250, 219], [], 'errno 38'],
  ['clone3 looks absent, libc falls back', [435, 435], [], 'errno 38'],
  ['clone of a thread', [56, 220], [0x3d0f00], 'allow'],
  ['clone with a user namespace', [56, 220], [0x10000011], 'errno 1'],
  ['unshare of a user namespace', [272, 97], [0x10000000], 'errno 1'],
  ['unshare where that is permitted', [272, 97], [0x10000000], 'allow', { refuseUserNamespaces: false }],
  ['ioctl TCGETS', [16, 29], [0, 0x5401], 'allow'],
  ['ioctl TIOCSTI', [16, 29], [0, 0x5412], 'errno 1'],
  ['ioctl TIOCLINUX', [16, 29], [0, 0x541c], 'errno 1'],
  ['a TCP socket', [41, 198], [2, 0x80001, 6], 'allow'],
  ['a UDP socket over IPv6', [41, 198], [10, 2, 0], 'allow'],
  ['a raw socket', [41, 198], [2, 3, 1], 'errno 1'],
  ['a unix socket', [41, 198], [1, 1, 0], 'errno 1'],
  ['a unix socket where it is permitted', [41, 198], [1, 1, 0], 'allow', { unixSockets: 'allow' }],
  ['route netlink', [41, 198], [16, 3, 0], 'allow'],
  ['netfilter netlink', [41, 198], [16, 3, 12], 'errno 97'],
  ['VSOCK', [41, 198], [40, 1, 0], 'errno 97', { unixSockets: 'allow' }],
  ['packet sockets', [41, 198], [17, 3, 0], 'errno 97'],
  ['a stream pair', [53, 199], [1, 1, 0], 'allow'],
  ['a datagram pair can send to any path', [53, 199], [1, 2, 0], 'errno 1'],
  ['a datagram pair where sockets are permitted', [53, 199], [1, 2, 0], 'allow', { unixSockets: 'allow' }],
  ['ptrace among ourselves', [101, 117], [], 'allow'],
  ['ptrace without a pid namespace', [101, 117], [], 'errno 1', { debuggers: false }],
  ['connect', [42, 203], [], 'allow'],
  ['connect without a network namespace', [42, 203], [], 'errno 1', { inet: 'deny' }],
  ['a TCP socket without a network namespace', [41, 198], [2, 1, 0], 'errno 1', { inet: 'deny' }],
  ['chmod where metadata is closed', [91, 52], [], 'errno 30', { metadata: 'deny' }],
  ['chmod', [91, 52], [], 'allow'],
];

describe.each(['x64', 'arm64'] as const)('the filter for %s', (arch) => {
  it.each(ROWS)('%s', (_name, numbers, args, expected, over = {}) => {
    expect(run(arch, { nr: numbers[arch === 'x64' ? 0 : 1], args }, over)).toBe(expected);
  });

  it('kills a program of another architecture', () => {
    expect(run(arch, { nr: 0, arch: 0x40000003 })).toBe('kill');
  });

  it('fits what the kernel accepts', () => {
    const program = buildFilter({ ...STRICT, arch, inet: 'deny', debuggers: false, metadata: 'deny' });
    expect(program.length / 8).toBeLessThan(4096);
  });
});

it('refuses the x32 calling convention', () => {
  expect(run('x64', { nr: 0x40000000 + 41, args: [1, 1, 0] })).toBe('errno 38');
});

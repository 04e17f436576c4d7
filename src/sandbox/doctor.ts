/** What this machine can do, found out by trying. */
import { execFile } from 'node:child_process';
import { lstatSync, readFileSync, statSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import type { SandboxPolicy } from '../protocol/index.js';
import { backendOf } from './create.js';
import { loadLibc } from './landlock/libc.js';
import type { Machine } from './machine.js';
import { RESERVED_NAMES } from './plan/names.js';

export type FindingStatus = 'ok' | 'warn' | 'fail';

export interface Finding {
  /** Stable name for programs. */
  readonly id: string;
  readonly status: FindingStatus;
  readonly text: string;
  readonly fix?: string;
}

export interface DoctorReport {
  readonly platform: string;
  readonly tier: string;
  readonly findings: readonly Finding[];
  /** Median wall time of a sandboxed `/bin/true`, milliseconds; absent when none could be run. */
  readonly msPerCommand?: number;
}

export async function examine(machine: Machine, workspace: string): Promise<DoctorReport> {
  const speed = await measure(machine);
  return {
    platform: `${process.platform} ${process.arch} ${release()}`,
    tier: machine.tier,
    findings: [
      ...tierFinding(machine),
      ...(await bwrapFindings(machine)),
      ...kernelSwitches(),
      await landlockFinding(),
      await filterFinding(machine),
      await loopbackFinding(machine),
      await proxyFinding(machine),
      await terminalFinding(),
      ...uidFinding(machine),
      ...workspaceFindings(workspace),
    ],
    ...(speed === undefined ? {} : { msPerCommand: speed }),
  };
}

function tierFinding(machine: Machine): Finding[] {
  const { probe, tier } = machine;
  if (tier === 'seatbelt') return [{ id: 'tier', status: 'ok', text: 'commands run under sandbox-exec' }];
  if (probe.ok) {
    const weak = probe.degraded.map((text): Finding => ({ id: 'tier', status: 'warn', text }));
    return [{ id: 'tier', status: 'ok', text: `commands run under bubblewrap (${probe.path})` }, ...weak];
  }
  const { what, fix } = probe.failure;
  return [{ id: 'tier', status: 'fail', text: `bubblewrap cannot be used: ${what}`, fix }];
}

async function bwrapFindings({ probe }: Machine): Promise<Finding[]> {
  if (probe.path === undefined) return [];
  const { stdout } = await runHost(probe.path, ['--version']);
  const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(stdout)?.slice(1) ?? []).map(Number);
  const setuid = (statSync(probe.path).mode & 0o4000) !== 0;
  const recent = major > 0 || minor >= 8;
  return [
    {
      id: 'bwrap-version',
      status: recent ? 'ok' : 'warn',
      text: `${stdout.trim() || 'bubblewrap of unknown version'}${setuid ? ', setuid' : ''}`,
      ...(recent ? {} : { fix: 'install bubblewrap 0.8 or later' }),
    },
  ];
}

const SWITCHES = [
  ['/proc/sys/user/max_user_namespaces', (value: string) => Number(value) > 0],
  ['/proc/sys/kernel/unprivileged_userns_clone', (value: string) => value === '1'],
  ['/proc/sys/kernel/apparmor_restrict_unprivileged_userns', (value: string) => value === '0'],
] as const;

function kernelSwitches(): Finding[] {
  return SWITCHES.flatMap(([path, good]): Finding[] => {
    const value = readText(path);
    if (value === undefined) return [];
    const name = path.slice('/proc/sys/'.length).replaceAll('/', '.');
    return [{ id: 'sysctl', status: good(value) ? 'ok' : 'warn', text: `${name} = ${value}` }];
  });
}

async function landlockFinding(): Promise<Finding> {
  const libc = process.platform === 'linux' ? await loadLibc() : undefined;
  if (libc === undefined) {
    return {
      id: 'landlock',
      status: 'warn',
      text: 'Landlock cannot be used: the optional package koffi is not installed',
    };
  }
  const abi = libc.landlockAbi();
  return abi >= 1
    ? { id: 'landlock', status: 'ok', text: `Landlock ABI ${abi}` }
    : { id: 'landlock', status: 'warn', text: 'the kernel has no Landlock' };
}

/** Five things a sandboxed shell must not manage; each prints its number when it does. */
const ESCAPES = [
  'unshare -Ur true',
  'mount -t tmpfs none /mnt',
  'chroot / true',
  'echo x > /proc/sys/kernel/core_pattern',
  'hostname turnwright-doctor',
];

async function filterFinding(machine: Machine): Promise<Finding> {
  const script = ESCAPES.map((line, index) => `(${line}) >/dev/null 2>&1 && echo escaped-${index}`).join('; ');
  const result = await runInside(machine, `${script}; echo done`);
  if (result === undefined) return { id: 'filter', status: 'fail', text: 'no command could be run in the sandbox' };
  const escaped = ESCAPES.filter((_, index) => result.output.includes(`escaped-${index}`));
  if (escaped.length > 0) return { id: 'filter', status: 'fail', text: `not refused inside: ${escaped.join('; ')}` };
  return { id: 'filter', status: 'ok', text: `refused inside, as they must be: ${ESCAPES.length} escapes tried` };
}

async function loopbackFinding(machine: Machine): Promise<Finding> {
  const node = `const s=require('net').createServer(c=>c.end('x')).listen(0,'127.0.0.1',()=>require('net').connect(s.address().port).on('data',()=>{console.log('loop');process.exit()}));s.on('error',()=>process.exit(1))`;
  const result = await runInside(machine, `"${process.execPath}" -e "${node}"`);
  const works = result?.output.includes('loop') === true;
  return works
    ? { id: 'loopback', status: 'ok', text: 'commands without network can serve and use their own loopback' }
    : { id: 'loopback', status: 'warn', text: 'commands without network cannot use loopback' };
}

async function proxyFinding(machine: Machine): Promise<Finding> {
  const network = { kind: 'proxied', allow: ['localhost'], deny: [], mode: 'full' } as const;
  const result = await runInside(machine, 'test -n "$HTTPS_PROXY" && echo joined', { network });
  return result?.output.includes('joined') === true
    ? { id: 'proxy', status: 'ok', text: 'network access by allow list works' }
    : {
        id: 'proxy',
        status: 'warn',
        text: `network access by allow list does not work${result === undefined ? '' : `: ${result.output.trim()}`}`,
        fix: 'install util-linux (nsenter)',
      };
}

async function terminalFinding(): Promise<Finding> {
  try {
    await import('@lydell/node-pty');
    return { id: 'terminal', status: 'ok', text: 'terminals by @lydell/node-pty' };
  } catch {
    const fix = 'npm install @lydell/node-pty';
    return { id: 'terminal', status: 'warn', text: 'no terminal support: commands get pipes only', fix };
  }
}

function uidFinding({ host }: Machine): Finding[] {
  if (host.uid !== 0) return [];
  const text = 'running as root: what the sandbox does not stop, nothing else will';
  return [{ id: 'uid', status: 'warn', text, fix: 'run as an ordinary user' }];
}

/** A protected path that is a link, or a protected file with another name elsewhere, can only be watched. */
function workspaceFindings(workspace: string): Finding[] {
  const watched = ['.git/config', ...RESERVED_NAMES].map((name) => join(workspace, name));
  return watched.flatMap((path): Finding[] => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isSymbolicLink() === true) {
      return [
        { id: 'link', status: 'warn', text: `${path} is a link: a change is undone after a command, not prevented` },
      ];
    }
    if (found?.isFile() === true && found.nlink > 1) {
      return [
        { id: 'hard-link', status: 'warn', text: `${path} has ${found.nlink} names: it can be changed by another one` },
      ];
    }
    return [];
  });
}

const RUNS = 9;

async function measure(machine: Machine): Promise<number | undefined> {
  const times: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const before = performance.now();
    if ((await runInside(machine, 'true')) === undefined) return undefined;
    times.push(performance.now() - before);
  }
  return Math.round(times.sort((a, b) => a - b)[Math.floor(RUNS / 2)]! * 10) / 10;
}

/** Undefined when the sandbox refuses to run anything. */
async function runInside(
  machine: Machine,
  script: string,
  over: Partial<SandboxPolicy> = {},
): Promise<{ readonly output: string } | undefined> {
  const policy: SandboxPolicy = {
    mode: 'read-only',
    writableRoots: [],
    excludeSlashTmp: true,
    excludeTmpdirEnvVar: true,
    readOnly: [],
    denyRead: [],
    git: 'read-only',
    network: { kind: 'off' },
    unixSockets: 'deny',
    landlockFallback: false,
    ...over,
  };
  const env = { PATH: process.env['PATH'] ?? '/usr/bin:/bin' };
  try {
    const options = { cwd: '/', env, tty: false, policy };
    const running = await backendOf(machine).spawn(['/bin/sh', '-c', script], options, new AbortController().signal);
    let output = '';
    running.onOutput((bytes) => (output += bytes.toString()));
    await running.exited;
    return { output };
  } catch {
    return undefined;
  }
}

function runHost(file: string, args: readonly string[]): Promise<{ readonly stdout: string }> {
  return new Promise((resolve) => execFile(file, [...args], (_error, stdout) => resolve({ stdout })));
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}

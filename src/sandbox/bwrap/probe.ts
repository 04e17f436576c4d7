/** Asks the machine once per process what bubblewrap can do here, with the very arguments that real runs use. */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { describeSelf } from '../identity.js';
import { buildFilter, filterArch } from '../seccomp/filter.js';
import { filterFile, type SandboxState } from '../state.js';
import { bwrapArgv, type ProcFacts } from './argv.js';
import { BWRAP_MISSING, explainProbe, type ProbeFailure } from './explain.js';
import { procFacts } from './proc.js';

export type BwrapProbe =
  | {
      readonly ok: true;
      readonly path: string;
      readonly proc: ProcFacts;
      /** False where no network namespace can be made: then sockets are refused altogether while the network is off. */
      readonly networkNamespace: boolean;
      /** What is weaker than it should be, one sentence each. */
      readonly degraded: readonly string[];
    }
  | { readonly ok: false; readonly path?: string; readonly failure: ProbeFailure; readonly stderr: string };

const cache = new Map<string, Promise<BwrapProbe>>();

/** Once per process; and once per boot as long as it succeeds without reservations. */
export function probeBwrap(path: string | undefined, state: SandboxState, uid: number): Promise<BwrapProbe> {
  if (path === undefined) return Promise.resolve({ ok: false, failure: BWRAP_MISSING, stderr: '' });
  const known = cache.get(path) ?? remembered(path, state, uid);
  cache.set(path, known);
  return known;
}

/** Drops what is remembered: a sandbox did not start although it should have. */
export function forgetProbe(state: SandboxState): void {
  cache.clear();
  rmSync(join(state.dir, MEMORY), { force: true });
}

const MEMORY = 'probe.json';

interface Memory {
  readonly key: string;
  readonly proc: ProcFacts;
}

async function remembered(path: string, state: SandboxState, uid: number): Promise<BwrapProbe> {
  const file = join(state.dir, MEMORY);
  const key = machineKey(path, uid);
  const memory = readMemory(file);
  if (memory?.key === key) return { ok: true, path, proc: memory.proc, networkNamespace: true, degraded: [] };
  const found = await probe(path, state, uid);
  if (found.ok && found.networkNamespace && found.degraded.length === 0) {
    writeFileSync(file, JSON.stringify({ key, proc: found.proc } satisfies Memory));
  }
  return found;
}

/** Everything a probe's outcome depends on. */
function machineKey(path: string, uid: number): string {
  const { ino, mtimeMs } = statSync(path);
  const { bootId } = describeSelf();
  return [SHAPE_VERSION, path, ino, mtimeMs, release(), bootId, uid, readlinkSync('/proc/self/ns/user')].join(' ');
}

/** Changes when the arguments of real runs change. */
const SHAPE_VERSION = 1;

function readMemory(file: string): Memory | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Memory;
  } catch {
    return undefined;
  }
}

interface Shape {
  readonly proc: ProcFacts;
  readonly network: boolean;
}

async function probe(path: string, state: SandboxState, uid: number): Promise<BwrapProbe> {
  const proc = procFacts(uid);
  const first = await tryShape(path, state, { proc, network: true });
  if (first === undefined) return { ok: true, path, proc, networkNamespace: true, degraded: [] };
  const failure = explainProbe(first);
  if (failure.cause === 'network') {
    const second = await tryShape(path, state, { proc, network: false });
    const degraded = [`${failure.what}: commands without network get no sockets at all`];
    if (second === undefined) return { ok: true, path, proc, networkNamespace: false, degraded };
  }
  // The host's own /proc shows its processes; tolerable only where they belong to nobody who matters more than we do.
  if (failure.cause === 'proc' && uid !== 0) {
    const hostProc: ProcFacts = { readOnly: [], masked: [], fromHost: true };
    const second = await tryShape(path, state, { proc: hostProc, network: true });
    const degraded = [`${failure.what}: commands see the host's processes and may not debug`];
    if (second === undefined) return { ok: true, path, proc: hostProc, networkNamespace: true, degraded };
  }
  return { ok: false, path, failure, stderr: first };
}

const PROBE_LIMIT_MS = 20_000;

/** Undefined when it works, else what bubblewrap said. */
async function tryShape(path: string, state: SandboxState, shape: Shape): Promise<string | undefined> {
  const arch = filterArch(process.arch);
  if (arch === undefined) return `seccomp: no filter for ${process.arch}`;
  const inet = shape.network ? 'allow' : 'deny';
  const fd = openSync(
    filterFile(state, buildFilter({ arch, unixSockets: 'deny', inet, debuggers: !shape.proc.fromHost })),
    'r',
  );
  try {
    const argv = bwrapArgv(
      {
        entries: [{ path: state.dir, access: 'deny', shape: 'dir' }],
        cwd: '/',
        tty: false,
        unshareNetwork: shape.network,
        seccompFd: 3,
        deniedFile: state.deniedFile,
        proc: shape.proc,
      },
      ['/bin/true'],
    );
    return await run(path, argv, fd);
  } finally {
    closeSync(fd);
  }
}

function run(path: string, argv: readonly string[], fd: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(path, argv, { cwd: '/', stdio: ['ignore', 'ignore', 'pipe', fd], timeout: PROBE_LIMIT_MS });
    let stderr = '';
    child.stderr?.on('data', (piece: Buffer) => (stderr = (stderr + piece.toString()).slice(0, 4096)));
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code) => resolve(code === 0 ? undefined : stderr || `exit ${code ?? 'by signal'}`));
  });
}

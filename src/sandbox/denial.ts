/**
 * Was it the sandbox? A command that fails for its own reasons must not raise the question whether to run it outside;
 * one that the sandbox stopped must. Codex 0.171 searches the whole output for words like "sandbox" or "permission
 * denied", which fires on `grep "permission denied" log`. Here a line must look like an error message, and what it
 * names is checked against the policy and against what this user could do without the sandbox.
 */
import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, resolve } from 'node:path';
import type { SandboxDenialFacts, SandboxPolicy } from '../protocol/index.js';
import { type ErrorLine, errorLines } from './error-lines.js';
import { createFileView, type FileView, resolvePath } from './files.js';
import { type Access, accessOf } from './plan/entries.js';
import { planSandbox } from './plan/plan.js';
import { resolvePolicy, type SandboxHost } from './plan/policy.js';

export interface DenialQuestion {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What the command printed; only the last 64 KiB count. */
  readonly output: string;
  readonly policy: SandboxPolicy;
  /** Working directory of the command; relative paths in messages are taken from here. */
  readonly cwd: string;
  /** Hosts the network proxy refused to this command. */
  readonly refusedHosts?: readonly string[];
}

/** Facts about the machine, replaceable in tests. */
export interface DenialWorld {
  readonly uid: number;
  /** Access the policy gives to a canonical path; undefined is the read-only base. */
  access(path: string): Access | undefined;
  /** True when this user could, outside the sandbox, write (create, remove) at `path`. */
  couldWrite(path: string): boolean;
  couldRead(path: string): boolean;
}

/** Undefined when the sandbox had no part in it, as far as can be told. */
export function detectDenial(question: DenialQuestion): SandboxDenialFacts | undefined {
  if (question.policy.mode === 'danger-full-access' || question.policy.mode === 'external') return undefined;
  if (question.exitCode === 0) return undefined;
  return judgeDenial(question, realWorld(question.policy, question.cwd));
}

const SIGSYS_EXIT = 159;
const OUTPUT_TAIL = 64 * 1024;

/** The decision itself. */
export function judgeDenial(question: DenialQuestion, world: DenialWorld): SandboxDenialFacts | undefined {
  if (question.exitCode === 0) return undefined;
  if (question.signal === 'SIGSYS' || question.exitCode === SIGSYS_EXIT) {
    return { certainty: 'certain', what: 'syscall', evidence: 'ended by SIGSYS: a system call the sandbox refuses' };
  }
  const host = question.refusedHosts?.at(-1);
  if (host !== undefined) return { certainty: 'certain', what: 'net', host };
  const lines = errorLines(question.output.slice(-OUTPUT_TAIL));
  for (const line of lines.reverse()) {
    const found = judgeLine(line, question, world);
    if (found !== undefined) return { ...found, evidence: `${line.text.slice(0, 300)}${hint(found, question.policy)}` };
  }
  return undefined;
}

/** Says which permission would have let it pass, where there is one. */
function hint({ path }: SandboxDenialFacts, policy: SandboxPolicy): string {
  const inGit = path !== undefined && /\/\.git(?:\/|$)/.test(path);
  return inGit && policy.git === 'read-only'
    ? ' (the sandbox keeps .git read-only; sandbox.git = "commit" lets commits through)'
    : '';
}

function judgeLine(line: ErrorLine, question: DenialQuestion, world: DenialWorld): SandboxDenialFacts | undefined {
  switch (line.errno) {
    case 'EROFS':
      return judgeReadOnly(line.path, question.cwd, world);
    case 'EACCES':
    case 'EPERM':
      return judgeForbidden(line, question, world);
    case 'NETWORK':
      if (question.policy.network.kind === 'full') return undefined;
      return { certainty: 'likely', what: 'net', ...(line.host === undefined ? {} : { host: line.host }) };
  }
}

function judgeReadOnly(named: string | undefined, cwd: string, world: DenialWorld): SandboxDenialFacts | undefined {
  if (named === undefined) return { certainty: 'likely', what: 'fs-write' };
  const path = resolve(cwd, named);
  // A place the policy leaves writable is read-only by itself: a mounted image, a snapshot.
  return world.access(path) === 'write' ? undefined : { certainty: 'certain', what: 'fs-write', path };
}

function judgeForbidden(line: ErrorLine, question: DenialQuestion, world: DenialWorld): SandboxDenialFacts | undefined {
  const socketsDenied = question.policy.unixSockets === 'deny' && question.policy.network.kind !== 'full';
  if (line.errno === 'EPERM' && line.aboutSockets && (socketsDenied || question.policy.unixSockets === 'deny')) {
    return { certainty: 'likely', what: 'unix', ...(line.path === undefined ? {} : { path: line.path }) };
  }
  if (line.path === undefined) return undefined;
  const path = resolve(question.cwd, line.path);
  const access = world.access(path);
  if (access === 'deny' && world.couldRead(path)) return { certainty: 'likely', what: 'fs-read', path };
  // Without capabilities uid 0 is an ordinary owner inside; outside it could have.
  if (world.uid === 0 && world.couldRead(path) && access === 'write')
    return { certainty: 'likely', what: 'fs-write', path };
  if (access !== 'write' && world.couldWrite(path)) return { certainty: 'likely', what: 'fs-write', path };
  return undefined;
}

function realWorld(policy: SandboxPolicy, cwd: string): DenialWorld {
  const files = createFileView();
  const tmpdir = process.env['TMPDIR'];
  const host: SandboxHost = {
    uid: process.getuid?.() ?? 0,
    ...(tmpdir ? { tmpdir } : {}),
    home: homedir(),
    stateDir: '/nonexistent/turnwright-state',
    configHomes: [],
    socketPlaces: [],
  };
  let entries: ReturnType<typeof planSandbox>['entries'] | undefined;
  return {
    uid: host.uid,
    access(path) {
      const resolved = resolvePolicy(policy, host, files);
      if (resolved === undefined) return 'write';
      entries ??= planSandbox(resolved, cwd, host, files).entries;
      return accessOf(entries, resolvePath(files, path).path);
    },
    couldWrite: (path) => can(path, constants.W_OK) || (missing(files, path) && can(dirname(path), constants.W_OK)),
    couldRead: (path) => can(path, constants.R_OK),
  };
}

function missing(files: FileView, path: string): boolean {
  return files.kind(path) === 'missing';
}

function can(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

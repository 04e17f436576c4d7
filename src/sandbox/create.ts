/** Chooses what can enforce a policy on this machine, once, and starts programs under it. */
import { accessSync, constants, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import type { RunningProcess, SpawnOptions } from '../process/index.js';
import { type SandboxPolicy, TurnwrightError } from '../protocol/index.js';
import type { SandboxBackend } from './backend.js';
import { findBwrap } from './bwrap/find.js';
import { type Launch, type LaunchContext, prepareLaunch } from './bwrap/launch.js';
import { type BwrapProbe, probeBwrap } from './bwrap/probe.js';
import { Claims } from './claims.js';
import { createFileView } from './files.js';
import { type ResolvedPolicy, resolvePolicy, type SandboxHost } from './plan/policy.js';
import { filterArch } from './seccomp/filter.js';
import { spawnWithPipes } from './spawn-pipes.js';
import { openState, type SandboxState } from './state.js';

export interface SandboxBackendOptions {
  /** Where our own files live. Default: the user's state home. Processes over one workspace should share it. */
  readonly stateDir?: string;
  /** Directories with configuration, ours and the ecosystem's; never writable from inside. */
  readonly configHomes?: readonly string[];
  /** Where to look for `bwrap`. Default: `PATH` of this process. */
  readonly searchPath?: string;
  /** Directories in which a `bwrap` is not trusted: the workspace and the writable roots. */
  readonly distrusted?: readonly string[];
  /** Told once about anything weaker or left out: a degraded tier, a root that does not exist. */
  readonly onNotice?: (notice: string) => void;
}

/**
 * Never rejects because of a missing sandbox: commands with full access must still run. Restricted ones are then
 * refused by `spawn` with `TW_SANDBOX_UNAVAILABLE`, which names the cause, the fix and the explicit ways out.
 */
export async function createSandboxBackend(options: SandboxBackendOptions = {}): Promise<SandboxBackend> {
  const state = openState(options.stateDir);
  const host = describeHost(state, options);
  const path = findBwrap(options.searchPath ?? process.env['PATH'] ?? '', options.distrusted ?? []);
  const probe = await probeBwrap(path, state, host.uid);
  return new Tiers(state, host, probe, options.onNotice ?? (() => undefined));
}

/** Runs programs without any sandbox: for `danger-full-access` and for people who isolate by other means. */
export function createPlainBackend(): SandboxBackend {
  return {
    name: 'none',
    spawn: async (argv, options, signal) => await abortable(spawnWithPipes(argv, options, []), signal),
  };
}

class Tiers implements SandboxBackend {
  readonly name: string;
  readonly #plain = createPlainBackend();
  readonly #probe: BwrapProbe;
  readonly #state: SandboxState;
  readonly #host: SandboxHost;
  readonly #claims: Claims;
  readonly #files = createFileView();
  readonly #resolved = new Map<string, ResolvedPolicy | undefined>();
  readonly #notice: (notice: string) => void;

  constructor(state: SandboxState, host: SandboxHost, probe: BwrapProbe, notice: (notice: string) => void) {
    this.name = probe.ok ? 'bwrap' : 'unavailable';
    this.#probe = probe;
    this.#state = state;
    this.#host = host;
    this.#claims = new Claims(state);
    this.#notice = notice;
    if (probe.ok) for (const weakness of probe.degraded) notice(`sandbox is degraded: ${weakness}`);
  }

  async spawn(
    argv: readonly string[],
    options: SpawnOptions & { readonly policy: SandboxPolicy },
    signal: AbortSignal,
  ): Promise<RunningProcess> {
    signal.throwIfAborted();
    const policy = this.#resolve(options.policy);
    if (policy === undefined) return await this.#plain.spawn(argv, options, signal);
    const context = this.#context();
    requireProgram(argv[0] ?? '', options);
    const request = { policy, cwd: options.cwd, tty: options.tty, argv };
    return await abortable(startLaunch(await prepareLaunch(context, request), options), signal);
  }

  /** Each policy is resolved once: its roots stay where they were even when someone replaces them by links. */
  #resolve(policy: SandboxPolicy): ResolvedPolicy | undefined {
    const key = JSON.stringify(policy);
    if (this.#resolved.has(key)) return this.#resolved.get(key);
    const resolved = resolvePolicy(policy, this.#host, this.#files);
    for (const warning of resolved?.warnings ?? []) this.#notice(warning);
    this.#resolved.set(key, resolved);
    return resolved;
  }

  #context(): LaunchContext {
    const arch = filterArch(process.arch);
    if (!this.#probe.ok || arch === undefined) throw unavailable(this.#probe);
    return {
      probe: this.#probe,
      arch,
      state: this.#state,
      claims: this.#claims,
      host: this.#host,
      files: this.#files,
    };
  }
}

/** Environment that tells scripts where they run. */
export function sandboxEnvironment(tier: string, policy: Pick<ResolvedPolicy, 'network'>): Record<string, string> {
  return {
    TURNWRIGHT_SANDBOX: tier,
    ...(policy.network.kind === 'off' ? { CODEX_SANDBOX_NETWORK_DISABLED: '1' } : {}),
  };
}

async function startLaunch(
  launch: Launch,
  options: SpawnOptions & { readonly policy: SandboxPolicy },
): Promise<RunningProcess> {
  const env = { ...options.env, ...sandboxEnvironment('bwrap', options.policy) };
  let inner: RunningProcess;
  try {
    inner = await spawnWithPipes(launch.argv, { ...options, env, cwd: '/' }, launch.fds);
  } catch (error) {
    await launch.finish();
    throw error;
  }
  launch.started();
  const exited = inner.exited.then(async (exit) => {
    await launch.finish();
    return exit;
  });
  // `exited` has its own readers; this keeps a failure from being reported as unhandled before they come.
  exited.catch(() => undefined);
  const kill = (signal: NodeJS.Signals): void => {
    const { childPid } = launch.status();
    if (signal === 'SIGKILL' || childPid === undefined) inner.kill('SIGKILL');
    else killGroup(childPid, signal);
  };
  return {
    pid: inner.pid,
    onOutput: (listener) => inner.onOutput(listener),
    exited,
    canWrite: inner.canWrite,
    write: (text) => inner.write(text),
    kill,
    async terminate(graceMs = 500) {
      kill('SIGTERM');
      const timer = setTimeout(() => inner.kill('SIGKILL'), graceMs);
      await exited;
      clearTimeout(timer);
    },
  };
}

function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // It is gone already.
  }
}

async function abortable(started: Promise<RunningProcess>, signal: AbortSignal): Promise<RunningProcess> {
  const running = await started;
  if (!signal.aborted) return running;
  running.kill('SIGKILL');
  await running.exited;
  throw signal.reason;
}

function unavailable(probe: BwrapProbe): TurnwrightError {
  const failure = probe.ok
    ? { what: `there is no filter for ${process.arch}`, fix: 'use x86_64 or arm64' }
    : probe.failure;
  return new TurnwrightError(
    'TW_SANDBOX_UNAVAILABLE',
    `no sandbox on this machine: ${failure.what}; ${failure.fix}. Until then a command can only run outside the ` +
      'sandbox: approve it for this once, or set sandbox_mode = "danger-full-access"',
    { facts: { ...(probe.ok ? {} : { cause: probe.failure.cause, stderr: probe.stderr }) } },
  );
}

/** @throws an `ENOENT` error when the working directory or the program does not exist, before any process starts. */
function requireProgram(program: string, options: SpawnOptions): void {
  if (statSync(options.cwd, { throwIfNoEntry: false })?.isDirectory() !== true) throw missing(options.cwd, 'chdir');
  const places = program.includes('/')
    ? [isAbsolute(program) ? program : join(options.cwd, program)]
    : (options.env['PATH'] ?? '/usr/bin:/bin').split(delimiter).map((place) => join(place, program));
  if (!places.some(isProgram)) throw missing(program, 'spawn');
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function missing(path: string, syscall: string): NodeJS.ErrnoException {
  const error: NodeJS.ErrnoException = new Error(`${syscall} ${path} ENOENT`);
  return Object.assign(error, { code: 'ENOENT', errno: -2, syscall, path });
}

function describeHost(state: SandboxState, options: SandboxBackendOptions): SandboxHost {
  const tmpdir = process.env['TMPDIR'];
  return {
    uid: process.getuid?.() ?? 0,
    ...(tmpdir === undefined || tmpdir === '' ? {} : { tmpdir }),
    home: homedir(),
    stateDir: state.dir,
    configHomes: options.configHomes ?? [],
  };
}

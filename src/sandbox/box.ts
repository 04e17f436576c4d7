/** The library door: one policy, any number of commands. Many boxes with different policies may be open at once. */
import { resolve } from 'node:path';
import { type SandboxPolicy, TurnwrightError } from '../protocol/index.js';
import type { SandboxedProcess } from './backend.js';
import { backendOf, fallback, type SandboxBackendOptions } from './create.js';
import { describePlan, type PlanDescription } from './describe.js';
import { type Machine, openMachine } from './machine.js';

/** What may be left out of a policy. Restrictive where it matters: no network, no unix sockets, `.git` read-only. */
export type BoxPolicy = Pick<SandboxPolicy, 'mode'> & Partial<SandboxPolicy>;

export interface BoxRun {
  /** Default: the first writable root, else the working directory of this process. */
  readonly cwd?: string;
  /** The whole environment; nothing of this process's own is passed on. Default: `PATH` only. */
  readonly env?: Readonly<Record<string, string>>;
  readonly tty?: boolean;
  readonly stdin?: 'pipe' | 'closed';
}

export interface Box extends AsyncDisposable {
  /** What enforces the policy: `bwrap`, `landlock`, `seatbelt`, or `none` for a mode that wraps nothing. */
  readonly tier: string;
  readonly policy: SandboxPolicy;
  spawn(argv: readonly string[], run?: BoxRun, signal?: AbortSignal): Promise<SandboxedProcess>;
  /** What a command in `cwd` would get, without starting it. */
  describe(argv: readonly string[], cwd?: string): PlanDescription;
  close(): Promise<void>;
}

/**
 * @throws TurnwrightError `TW_SANDBOX_UNAVAILABLE` when nothing here can enforce the policy, `TW_CONFIG_VALUE` for a
 * writable root that may never be one.
 */
export async function createSandbox(policy: BoxPolicy, options: SandboxBackendOptions = {}): Promise<Box> {
  const machine = await openMachine({
    ...options,
    distrusted: [...(options.distrusted ?? []), ...(policy.writableRoots ?? [])],
  });
  const full = completePolicy(policy);
  const resolved = machine.resolve(full);
  const backend = backendOf(machine);
  if (resolved !== undefined && machine.tier !== 'bwrap') await requireTier(machine, full);
  const home = (cwd: string | undefined): string => resolve(cwd ?? full.writableRoots[0] ?? process.cwd());
  return {
    tier: resolved === undefined ? 'none' : machine.tier,
    policy: full,
    async spawn(argv, run = {}, signal = new AbortController().signal) {
      const env = run.env ?? { PATH: process.env['PATH'] ?? '/usr/bin:/bin' };
      const stdin = run.stdin === undefined ? {} : { stdin: run.stdin };
      return await backend.spawn(
        argv,
        { cwd: home(run.cwd), env, tty: run.tty ?? false, ...stdin, policy: full },
        signal,
      );
    },
    describe: (argv, cwd) => describePlan(machine, full, home(cwd), argv),
    close: () => machine.close(),
    [Symbol.asyncDispose]: () => machine.close(),
  };
}

async function requireTier(machine: Machine, policy: SandboxPolicy): Promise<void> {
  const resolved = machine.resolve(policy);
  if (machine.tier === 'seatbelt' || resolved === undefined) return;
  await fallback(machine, resolved);
}

function completePolicy(policy: BoxPolicy): SandboxPolicy {
  const network = policy.network ?? { kind: 'off' };
  if (policy.mode === 'workspace-write' && (policy.writableRoots ?? []).length === 0) {
    throw new TurnwrightError('TW_USAGE', 'createSandbox: workspace-write needs at least one path in writableRoots');
  }
  return {
    writableRoots: [],
    excludeSlashTmp: false,
    excludeTmpdirEnvVar: false,
    readOnly: [],
    denyRead: [],
    git: 'read-only',
    unixSockets: network.kind === 'full' ? 'allow' : 'deny',
    landlockFallback: false,
    ...policy,
    network,
  };
}

/**
 * One sandboxed run from start to end: plan and claim, hand out what to spawn, look at what happened afterwards.
 * It does not spawn by itself, because a tool call, a terminal and the launcher wire standard streams differently.
 */

import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync, readSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type Violation, verifyAfter } from '../after.js';
import type { Claim, Claims, Placeholder } from '../claims.js';
import { sandboxEnvironment } from '../environment.js';
import { type FileView, resolvePath } from '../files.js';
import type { ProxiedPolicy } from '../network/decide.js';
import type { NetworkSession } from '../network/session.js';
import { planSandbox, type SandboxPlan } from '../plan/plan.js';
import type { ResolvedPolicy, SandboxHost } from '../plan/policy.js';
import { buildFilter, type FilterArch } from '../seccomp/filter.js';
import { filterFile, type SandboxState } from '../state.js';
import { bwrapArgv } from './argv.js';
import { type BwrapProbe, forgetProbe } from './probe.js';

export interface LaunchContext {
  readonly probe: Extract<BwrapProbe, { ok: true }>;
  readonly arch: FilterArch;
  readonly state: SandboxState;
  readonly claims: Claims;
  readonly host: SandboxHost;
  readonly files: FileView;
  /** The session namespace for a policy with a list of hosts. */
  network(policy: ProxiedPolicy): Promise<NetworkSession>;
}

export interface Launch {
  readonly argv: readonly string[];
  /** Descriptors to pass as 3, 4, …; close them here once the child has started. */
  readonly fds: readonly number[];
  /** Variables to set for the command, over the ones given. */
  readonly env: Readonly<Record<string, string>>;
  readonly plan: SandboxPlan;
  /** Status so far; `childPid` is the pid (as seen from outside) of the sandbox's first process. */
  status(): LaunchStatus;
  /** Hosts the proxy refused to this command, oldest first. */
  refusedHosts(): readonly string[];
  /** Call when bubblewrap ended without having started the command: it is then asked anew what works here. */
  notStarted(): void;
  /** Call when the child has started, or failed to. */
  started(): void;
  /** Call when the child is gone. Puts right what the command should not have done, gives stand-ins back. */
  finish(): Promise<readonly Violation[]>;
}

export interface LaunchStatus {
  readonly childPid?: number;
  /** Set once the command ran to its end; still unset afterwards when bubblewrap could not start it. */
  readonly exitCode?: number;
}

export interface LaunchRequest {
  readonly policy: ResolvedPolicy;
  readonly cwd: string;
  readonly tty: boolean;
  readonly argv: readonly string[];
}

export async function prepareLaunch(context: LaunchContext, request: LaunchRequest): Promise<Launch> {
  const { policy } = request;
  const session = policy.network.kind === 'proxied' ? await context.network(policy.network) : undefined;
  const { result: plan, claim } = await context.claims.acquire(context.files, (files) => {
    const result = planSandbox(policy, request.cwd, context.host, files);
    return { result, needs: placeholdersOf(result) };
  });
  try {
    return openLaunch(context, request, { plan, claim, session });
  } catch (error) {
    claim.release();
    throw error;
  }
}

function placeholdersOf(plan: SandboxPlan): Placeholder[] {
  return plan.entries.flatMap(({ path, placeholder }) =>
    placeholder === undefined ? [] : [{ path, kind: placeholder }],
  );
}

const BASH: { readonly bash?: string } =
  ['/bin/bash', '/usr/bin/bash'].filter((path) => existsSync(path)).map((bash) => ({ bash }))[0] ?? {};

interface Prepared {
  readonly plan: SandboxPlan;
  readonly claim: Claim;
  readonly session: NetworkSession | undefined;
}

function openLaunch(context: LaunchContext, request: LaunchRequest, prepared: Prepared): Launch {
  const { probe, state } = context;
  const { policy } = request;
  const { plan, claim, session } = prepared;
  const isolated = policy.network.kind !== 'full';
  const filter = filterFile(
    state,
    buildFilter({
      arch: context.arch,
      unixSockets: policy.unixSockets === 'deny' ? 'deny' : 'allow',
      inet: isolated && !probe.networkNamespace ? 'deny' : 'allow',
      debuggers: !probe.proc.fromHost,
    }),
  );
  const statusFile = join(state.runDir, `turnwright-status-${randomUUID()}`);
  const statusFd = openSync(statusFile, 'wx+', 0o600);
  const arguments_ = bwrapArgv(
    {
      entries: plan.entries.map((entry) => (entry.placeholder === undefined ? entry : { ...entry, optional: true })),
      cwd: resolvePath(context.files, request.cwd).path,
      tty: request.tty,
      ...BASH,
      unshareNetwork: policy.network.kind === 'off' && probe.networkNamespace,
      seccompFd: 3,
      statusFd: 4,
      deniedFile: state.deniedFile,
      proc: probe.proc,
    },
    request.argv,
  );
  const command = [...(session?.join ?? []), probe.path, ...arguments_];
  const ticket = session?.admit(request.argv.join(' ').slice(0, 500));
  const fds = request.tty ? [] : [openSync(filter, 'r'), openSync(statusFile, 'w')];
  if (!request.tty) unlinkSync(statusFile);
  return {
    argv: request.tty
      ? ['/bin/sh', '-c', 'exec 3<"$0" 4>"$1"; shift; exec "$@"', filter, statusFile, ...command]
      : command,
    fds,
    env: { ...ticket?.env, ...sandboxEnvironment('bwrap', policy.network) },
    plan,
    status: () => readStatus(statusFd),
    notStarted: () => forgetProbe(state),
    refusedHosts: () => ticket?.refusedHosts() ?? [],
    started: () => fds.splice(0).forEach((fd) => void closeSync(fd)),
    async finish() {
      for (const fd of fds.splice(0)) closeSync(fd);
      closeSync(statusFd);
      if (request.tty) unlinkSync(statusFile);
      ticket?.release();
      const violations = verifyAfter(plan, context.files);
      claim.release();
      return violations;
    },
  };
}

function readStatus(fd: number): LaunchStatus {
  const bytes = Buffer.alloc(4096);
  const text = bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytes.length, 0));
  const childPid = /"child-pid":\s*(\d+)/.exec(text)?.[1];
  const exitCode = /"exit-code":\s*(\d+)/.exec(text)?.[1];
  return {
    ...(childPid === undefined ? {} : { childPid: Number(childPid) }),
    ...(exitCode === undefined ? {} : { exitCode: Number(exitCode) }),
  };
}

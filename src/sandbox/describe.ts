/** A plan for people: `turnwright sandbox --print` and the doctor. Nothing is started and nothing is created. */
import type { SandboxPolicy } from '../protocol/index.js';
import { bwrapArgv } from './bwrap/argv.js';
import type { Machine } from './machine.js';
import type { Access } from './plan/entries.js';
import { planSandbox } from './plan/plan.js';

export interface PlanDescription {
  /** `none` when the policy wraps nothing. */
  readonly tier: string;
  readonly argv: readonly string[];
  readonly paths: readonly { readonly path: string; readonly access: Access; readonly missing?: true }[];
  readonly warnings: readonly string[];
}

/** Descriptors show as 3 (filter) and 4 (status). */
export function describePlan(
  machine: Machine,
  policy: SandboxPolicy,
  cwd: string,
  argv: readonly string[],
): PlanDescription {
  const resolved = machine.resolve(policy);
  if (resolved === undefined) return { tier: 'none', argv, paths: [], warnings: [] };
  const plan = planSandbox(resolved, cwd, machine.host, machine.files);
  const paths = plan.entries.map(({ path, access, placeholder }) => ({
    path,
    access,
    ...(placeholder === undefined ? {} : { missing: true as const }),
  }));
  const { probe } = machine;
  const wrapped = probe.ok
    ? bwrapArgv(
        {
          entries: plan.entries,
          cwd,
          tty: false,
          unshareNetwork: resolved.network.kind === 'off' && probe.networkNamespace,
          seccompFd: 3,
          statusFd: 4,
          deniedFile: machine.state.deniedFile,
          proc: probe.proc,
        },
        argv,
      )
    : argv;
  return { tier: machine.tier, argv: probe.ok ? [probe.path, ...wrapped] : argv, paths, warnings: resolved.warnings };
}

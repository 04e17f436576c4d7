/** The two command tools of a thread. They share its process table. */
import type { Tool } from '../../orchestrator/index.js';
import { buildChildEnv, createSecretMasker, secretValues } from '../../process/index.js';
import { detectDenial } from '../../sandbox/index.js';
import { createExecCommandTool } from './exec-command.js';
import { DEFAULT_MAX_OUTPUT_TOKENS } from './format-output.js';
import type { ExecDeps, ExecServices } from './options.js';
import { safeCoreCommandPolicy } from './safe-core-policy.js';
import { createWriteStdinTool } from './write-stdin.js';

const LONGEST_POLL_MS = 300_000;

export function createExecTools(deps: ExecDeps): readonly Tool[] {
  const services: ExecServices = {
    deps,
    policy: deps.policy ?? safeCoreCommandPolicy,
    childEnv: buildChildEnv(deps.envPolicy, deps.baseEnv, {}, deps.providerKeyNames),
    masker: createSecretMasker(secretValues(deps.envPolicy, deps.baseEnv, deps.providerKeyNames)),
    longestPollMs: deps.backgroundMaxTimeoutMs ?? LONGEST_POLL_MS,
    maxOutputTokens: deps.maxOutputTokens ?? DEFAULT_MAX_OUTPUT_TOKENS,
    detectDenial: (question) => (deps.detectDenial ?? detectDenial)(question),
  };
  return [createExecCommandTool(services), createWriteStdinTool(services)] as readonly Tool[];
}

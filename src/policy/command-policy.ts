/** The policy as the command tool asks it: one question per call, from the turn's settings and the rules in force. */
import type { TurnSettings } from '../protocol/index.js';
import { decideRequirement, type PolicyAnswer, type PolicyInput } from './decide-requirement.js';
import type { Policy } from './policy.js';

export interface CommandPolicyOptions {
  /** The rules in force now; asked for every command, so that edits take effect at once. */
  readonly current: () => Policy;
  readonly knownSafeCommands?: boolean;
  readonly allowRulesBypassSandbox?: boolean;
  /** Does the repository of this folder name no helper programs? Without it, git is not on the safe list. */
  readonly gitIsPlain?: (cwd: string) => boolean;
  readonly programPath?: (name: string) => string | undefined;
  readonly tmpdir?: string;
}

export interface CommandCall {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly settings: Pick<TurnSettings, 'approvalPolicy' | 'sandbox'>;
  readonly escalationRequested: boolean;
  readonly justification?: string;
  readonly prefixRule?: readonly string[];
}

/** Fits the tool's `CommandPolicy` port. */
export function createCommandPolicy(options: CommandPolicyOptions): { decide(call: CommandCall): PolicyAnswer } {
  return { decide: (call) => decideRequirement(inputOf(options, call)) };
}

function inputOf(options: CommandPolicyOptions, call: CommandCall): PolicyInput {
  const { knownSafeCommands, allowRulesBypassSandbox, gitIsPlain, programPath, tmpdir } = options;
  const usesGit = gitIsPlain !== undefined && call.argv.some((word) => word.includes('git'));
  return {
    policy: options.current(),
    argv: call.argv,
    cwd: call.cwd,
    approvalPolicy: call.settings.approvalPolicy,
    sandbox: call.settings.sandbox,
    escalationRequested: call.escalationRequested,
    ...(call.justification === undefined ? {} : { justification: call.justification }),
    ...(call.prefixRule === undefined ? {} : { prefixRule: call.prefixRule }),
    ...(knownSafeCommands === undefined ? {} : { knownSafeCommands }),
    ...(allowRulesBypassSandbox === undefined ? {} : { allowRulesBypassSandbox }),
    facts: {
      ...(usesGit ? { gitIsPlain: gitIsPlain(call.cwd) } : {}),
      ...(programPath ? { programPath } : {}),
      ...(tmpdir === undefined ? {} : { tmpdir }),
    },
  };
}

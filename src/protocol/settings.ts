/** Settings that decide how a thread runs. They are part of the log, so an old turn can be explained exactly. */

/** When to ask a person. `granular` says which kinds of question may be asked at all. */
export type ApprovalPolicy = 'untrusted' | 'on-request' | 'on-failure' | 'never' | GranularApproval;
export interface GranularApproval {
  readonly granular: {
    readonly sandbox_approval: boolean;
    readonly rules: boolean;
    readonly mcp_elicitations: boolean;
    readonly request_permissions: boolean;
    readonly skill_approval: boolean;
  };
}

export type SandboxMode = 'read-only' | 'workspace-write' | 'danger-full-access' | 'external';

/**
 * What commands may touch. All paths are absolute. `writableRoots` holds the workspace too; a per-call working
 * directory never adds to it.
 */
export interface SandboxPolicy {
  readonly mode: SandboxMode;
  readonly writableRoots: readonly string[];
  /** Keep `/tmp` out of the writable roots. */
  readonly excludeSlashTmp: boolean;
  /** Keep `$TMPDIR` out of the writable roots. */
  readonly excludeTmpdirEnvVar: boolean;
  readonly readOnly: readonly string[];
  readonly denyRead: readonly string[];
  readonly git: 'read-only' | 'commit';
  readonly network: NetworkPolicy;
  readonly unixSockets: 'deny' | 'private' | 'allow';
  /** Without user namespaces: run workspace-write under Landlock, which cannot protect paths inside a root. */
  readonly landlockFallback: boolean;
}
export type NetworkPolicy =
  | { readonly kind: 'off' }
  | { readonly kind: 'full' }
  | {
      readonly kind: 'proxied';
      readonly allow: readonly string[];
      readonly deny: readonly string[];
      readonly mode: 'full' | 'limited';
    };

/** Limits of one turn. Absent means without limit. Reaching one ends the turn as failed with a `budget` error. */
export interface Budget {
  /** Model requests. */
  readonly maxSteps?: number;
  /** Input plus output tokens reported by the provider. */
  readonly maxTokens?: number;
  readonly maxWallMs?: number;
}

/** `next_step`: a steer joins the next request. `now`: it also cuts the running response. */
export type SteerDelivery = 'next_step' | 'now';

export interface TurnSettings {
  readonly model: string;
  /** Id of the model provider. */
  readonly provider: string;
  /** Absolute working directory. */
  readonly cwd: string;
  readonly approvalPolicy: ApprovalPolicy;
  readonly sandbox: SandboxPolicy;
  readonly reasoningEffort?: string;
  readonly reasoningSummary?: string;
  readonly verbosity?: string;
  /** JSON Schema the final message must follow. */
  readonly outputSchema?: unknown;
  readonly steerDelivery: SteerDelivery;
  readonly budget: Budget;
  /** Changes when any rule in force changes; cached approvals are keyed by it. */
  readonly policyFingerprint: string;
}

export interface ThreadSettings {
  readonly threadId: string;
  /** Turnwright version that wrote the thread. */
  readonly version: string;
  readonly turn: TurnSettings;
  readonly source: string;
}

/** Token counts of one response, or sums of them. */
export interface Usage {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteInputTokens: number;
  readonly outputTokens: number;
  readonly reasoningOutputTokens: number;
  readonly totalTokens: number;
}

export const NO_USAGE: Usage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
  totalTokens: 0,
};

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    cachedInputTokens: a.cachedInputTokens + b.cachedInputTokens,
    cacheWriteInputTokens: a.cacheWriteInputTokens + b.cacheWriteInputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    reasoningOutputTokens: a.reasoningOutputTokens + b.reasoningOutputTokens,
    totalTokens: a.totalTokens + b.totalTokens,
  };
}

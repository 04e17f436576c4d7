/** The sandbox port: starts a program that may touch only what a policy allows. */
import type { RunningProcess, SpawnOptions } from '../process/index.js';
import type { SandboxPolicy } from '../protocol/index.js';

export interface SandboxedProcess extends RunningProcess {
  /** Hosts (`name:port`) that the network proxy refused to this command so far, each once. For `detectDenial`. */
  refusedHosts?(): readonly string[];
}

export interface SandboxBackend {
  /** `bwrap`, `landlock`, `none` … — recorded with every call. */
  readonly name: string;
  /**
   * Starts `argv` under `policy`. Rejects with `TW_SANDBOX_UNAVAILABLE` when the policy cannot be enforced here
   * (never runs it with less), and with an `ENOENT`-like error when the program or cwd does not exist.
   */
  spawn(
    argv: readonly string[],
    options: SpawnOptions & { readonly policy: SandboxPolicy },
    signal: AbortSignal,
  ): Promise<SandboxedProcess>;
}

/** The restricted threads of one process, one per set of rules. */
import { TurnwrightError } from '../../protocol/index.js';
import type { ResolvedPolicy } from '../plan/policy.js';
import { filterArch } from '../seccomp/filter.js';
import type { SandboxState } from '../state.js';
import { type Libc, loadLibc } from './libc.js';
import { landlockRules } from './rules.js';
import { LandlockWorker } from './worker.js';

export interface LandlockContext {
  readonly worker: LandlockWorker;
  readonly libc: Libc;
}

export class LandlockWorkers {
  readonly #open = new Map<string, Promise<LandlockWorker>>();
  readonly #state: SandboxState;
  readonly #notice: (notice: string) => void;

  constructor(state: SandboxState, notice: (notice: string) => void) {
    this.#state = state;
    this.#notice = notice;
  }

  /** @throws TurnwrightError `TW_SANDBOX_UNAVAILABLE` with the reason when the policy cannot be enforced this way. */
  async open(policy: ResolvedPolicy): Promise<LandlockContext> {
    const arch = filterArch(process.arch);
    const libc = process.platform === 'linux' ? await loadLibc() : undefined;
    if (libc === undefined || arch === undefined) throw cannot('the optional package koffi is not installed');
    const choice = landlockRules(policy, libc.landlockAbi());
    if (!choice.ok) throw cannot(choice.why);
    const key = JSON.stringify(choice.rules);
    let opening = this.#open.get(key);
    if (opening === undefined) {
      opening = LandlockWorker.open(choice.rules, arch, this.#state);
      this.#open.set(key, opening);
      opening.catch(() => this.#open.delete(key));
      this.#notice(WEAKER[policy.mode]);
    }
    return { worker: await opening, libc };
  }

  async close(): Promise<void> {
    const workers = [...this.#open.values()];
    this.#open.clear();
    for (const worker of await Promise.allSettled(workers)) {
      if (worker.status === 'fulfilled') await worker.value.close();
    }
  }
}

const WEAKER = {
  'read-only': 'sandbox: commands run under Landlock, because bubblewrap does not work here',
  'workspace-write':
    'sandbox is degraded: commands run under Landlock, because bubblewrap does not work here; protected paths inside ' +
    'writable roots are put back after a command instead of being locked, and file modes outside can be changed',
} as const;

function cannot(why: string): TurnwrightError {
  return new TurnwrightError('TW_SANDBOX_UNAVAILABLE', `Landlock does not suffice: ${why}`, { facts: { why } });
}

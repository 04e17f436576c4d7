/** One thread per policy that has restricted itself for good and forks commands, which inherit the restrictions. */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { ProcessExit } from '../../process/index.js';
import { TurnwrightError } from '../../protocol/index.js';
import { buildFilter, type FilterArch } from '../seccomp/filter.js';
import type { SandboxState } from '../state.js';
import type { LandlockRules } from './rules.js';
import { WORKER_SOURCE } from './worker-source.js';

export interface ForkRequest {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Descriptors of this process to become 0, 1, 2; `ignore` is `/dev/null`. */
  readonly stdio: readonly (number | 'ignore' | 'inherit')[];
}

export interface Forked {
  readonly pid: number;
  readonly exited: Promise<ProcessExit>;
}

type Answer =
  | { readonly ready: boolean; readonly error?: string }
  | { readonly id: number; readonly pid: number }
  | { readonly id: number; readonly error: string; readonly code?: string }
  | { readonly id: number; readonly exit: ProcessExit };

interface Waiting {
  readonly forked: (pid: number) => void;
  readonly failed: (error: Error) => void;
  readonly exited: (exit: ProcessExit) => void;
}

export class LandlockWorker {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #count = 0;

  private constructor(worker: Worker) {
    this.#worker = worker;
  }

  /** @throws TurnwrightError `TW_SANDBOX_UNAVAILABLE` when the thread cannot restrict itself, checked by a real write. */
  static async open(rules: LandlockRules, arch: FilterArch, state: SandboxState): Promise<LandlockWorker> {
    const filter = buildFilter({ arch, debuggers: false, ...rules.filter });
    const worker = new Worker(WORKER_SOURCE, {
      eval: true,
      // It must never get loader options or hooks of this process: they would run restricted, or lift the restriction.
      execArgv: [],
      trackUnmanagedFds: false,
      workerData: {
        from: import.meta.url,
        rules,
        uid: process.getuid?.() ?? 0,
        filter,
        probe: join(state.dir, 'landlock-probe'),
      },
    });
    const opened = new LandlockWorker(worker);
    await opened.#ready();
    worker.unref();
    return opened;
  }

  async fork(request: ForkRequest): Promise<Forked> {
    const id = ++this.#count;
    let ended: (exit: ProcessExit) => void = () => undefined;
    const exited = new Promise<ProcessExit>((resolve) => (ended = resolve));
    const pid = await new Promise<number>((resolve, reject) => {
      this.#waiting.set(id, { forked: resolve, failed: reject, exited: ended });
      this.#worker.ref();
      this.#worker.postMessage({ id, ...request });
    });
    return { pid, exited };
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #ready(): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (why: string): void => reject(notRestricted(why));
      this.#worker.once('error', (error) => fail(error.message));
      this.#worker.on('message', (answer: Answer) => {
        if (!('ready' in answer)) this.#dispatch(answer);
        else if (answer.ready) resolve();
        else fail(answer.error ?? 'no reason given');
      });
    });
  }

  #dispatch(answer: Exclude<Answer, { ready: boolean }>): void {
    const waiting = this.#waiting.get(answer.id);
    if (waiting === undefined) return;
    if ('pid' in answer) waiting.forked(answer.pid);
    else if ('exit' in answer) waiting.exited(answer.exit);
    else waiting.failed(Object.assign(new Error(answer.error), answer.code === undefined ? {} : { code: answer.code }));
    if ('pid' in answer) return;
    this.#waiting.delete(answer.id);
    if (this.#waiting.size === 0) this.#worker.unref();
  }
}

function notRestricted(why: string): TurnwrightError {
  return new TurnwrightError(
    'TW_SANDBOX_UNAVAILABLE',
    `Landlock could not be put in force (${why}); install bubblewrap, or run \`turnwright doctor\``,
  );
}

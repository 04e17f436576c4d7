/** Time that moves only when told to. */
import type { Clock } from '../lib/index.js';

interface Sleeper {
  readonly atMs: number;
  wake(): void;
}

export class ManualClock implements Clock {
  #now: number;
  readonly #sleepers = new Set<Sleeper>();
  readonly #watchers = new Set<() => void>();

  constructor(startMs = 1_700_000_000_000) {
    this.#now = startMs;
  }

  nowMs(): number {
    return this.#now;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const sleeper = { atMs: this.#now + ms, wake };
      const stop = () => {
        this.#sleepers.delete(sleeper);
        reject(signal.reason);
      };
      function wake() {
        signal.removeEventListener('abort', stop);
        resolve();
      }
      this.#sleepers.add(sleeper);
      signal.addEventListener('abort', stop, { once: true });
      for (const watcher of this.#watchers) watcher();
    });
  }

  /** Waiting times of those asleep, shortest first. */
  get pendingMs(): readonly number[] {
    return [...this.#sleepers].map((sleeper) => sleeper.atMs - this.#now).sort((a, b) => a - b);
  }

  /** Resolves once somebody sleeps. */
  async someoneSleeps(): Promise<void> {
    if (this.#sleepers.size > 0) return;
    await new Promise<void>((resolve) => {
      const watcher = () => {
        this.#watchers.delete(watcher);
        resolve();
      };
      this.#watchers.add(watcher);
    });
  }

  advance(ms: number): void {
    this.#now += ms;
    for (const sleeper of [...this.#sleepers].filter((one) => one.atMs <= this.#now)) {
      this.#sleepers.delete(sleeper);
      sleeper.wake();
    }
  }
}

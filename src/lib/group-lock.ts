/**
 * A fair lock with sharing: holders of the same group run side by side, everything else waits its turn.
 * `null` is exclusive even among its own. A waiting request holds back those behind it, so nobody starves.
 */
interface Waiter {
  readonly group: string | null;
  grant(): void;
}

export class GroupLock {
  #held = 0;
  #group: string | null = null;
  readonly #waiting: Waiter[] = [];

  /** Resolves with the release function (idempotent). Rejects with `signal.reason` when aborted while waiting. */
  acquire(group: string | null, signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#waiting.length === 0 && this.#fits(group)) return Promise.resolve(this.#take(group));
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        group,
        grant: () => {
          signal.removeEventListener('abort', leave);
          resolve(this.#take(group));
        },
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        this.#advance();
        reject(signal.reason);
      };
      this.#waiting.push(waiter);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  #fits(group: string | null): boolean {
    return this.#held === 0 || (group !== null && group === this.#group);
  }

  #take(group: string | null): () => void {
    this.#held++;
    this.#group = group;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#held--;
      this.#advance();
    };
  }

  #advance(): void {
    while (this.#waiting.length > 0 && this.#fits(this.#waiting[0]!.group)) this.#waiting.shift()!.grant();
  }
}

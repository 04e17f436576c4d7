/** Input accepted while a turn runs. Once closed it takes nothing more, so nothing can slip behind the turn's end. */
import type { UserInput } from '../protocol/index.js';
import type { PendingInput } from '../turn/index.js';

export class Inbox implements PendingInput {
  readonly #waiting: (readonly UserInput[])[] = [];
  readonly #cutListeners = new Set<() => void>();
  #closed = false;

  get size(): number {
    return this.#waiting.length;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** False when the turn is already past its last look. `cut` asks for the running response to be cut. */
  push(input: readonly UserInput[], cut: boolean): boolean {
    if (this.#closed) return false;
    this.#waiting.push(input);
    if (cut) for (const listener of [...this.#cutListeners]) listener();
    return true;
  }

  take(): readonly (readonly UserInput[])[] {
    return this.#waiting.splice(0);
  }

  closeIfEmpty(): boolean {
    if (this.#waiting.length === 0) this.#closed = true;
    return this.#closed;
  }

  closeAndTake(): readonly (readonly UserInput[])[] {
    this.#closed = true;
    return this.take();
  }

  onCut(listener: () => void): () => void {
    this.#cutListeners.add(listener);
    return () => this.#cutListeners.delete(listener);
  }
}

import { type Deferred, deferred } from '../lib/index.js';

/** Named points a script waits at until a test opens them. Opening before anyone waits counts. */
export class Gates {
  readonly #gates = new Map<string, Deferred<void>>();

  gate(name: string): { open(): void } {
    return { open: () => this.#at(name).resolve() };
  }

  wait(name: string): Promise<void> {
    return this.#at(name).promise;
  }

  #at(name: string): Deferred<void> {
    let gate = this.#gates.get(name);
    if (!gate) {
      gate = deferred<void>();
      this.#gates.set(name, gate);
    }
    return gate;
  }
}

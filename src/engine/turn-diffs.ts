/** The net diff of each turn's patches. Only the newest turn is kept: its first patch forgets the one before. */
import { createTurnDiffTracker } from '../tools/index.js';

type Tracker = ReturnType<typeof createTurnDiffTracker>;

export class TurnDiffs {
  #turnId: string | undefined;
  #tracker: Tracker | undefined;

  /** `cwd` of the turn's first patch; paths are shown relative to it. */
  of(turnId: string, cwd: string): Tracker {
    if (this.#turnId !== turnId || !this.#tracker) {
      this.#turnId = turnId;
      this.#tracker = createTurnDiffTracker(cwd);
    }
    return this.#tracker;
  }

  /** Undefined when the turn has patched nothing. */
  async diff(turnId: string): Promise<string | undefined> {
    return this.#turnId === turnId ? this.#tracker?.diff() : undefined;
  }
}

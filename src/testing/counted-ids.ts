/** Ids that count up, so that a test can name them. */
import type { Ids } from '../lib/index.js';

export function countedIds(): Ids {
  const counts = new Map<string, number>();
  let chunks = 0;
  return {
    next(kind) {
      const n = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, n);
      return `${kind}_${n}`;
    },
    chunk: () => (chunks++).toString(16).padStart(6, '0'),
  };
}

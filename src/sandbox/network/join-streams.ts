import type { Duplex } from 'node:stream';

/** Copies both ways until both sides are done. */
export function joinStreams(left: Duplex, right: Duplex): void {
  left.pipe(right);
  right.pipe(left);
  left.on('error', () => right.destroy());
  right.on('error', () => left.destroy());
  left.on('close', () => right.destroy());
  right.on('close', () => left.destroy());
}

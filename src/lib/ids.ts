import { randomBytes } from 'node:crypto';
import type { Ids } from './clock.js';

/** UUID version 7: 48 bits of Unix time, then random bits, so that ids sort by age. */
export function uuidV7(nowMs: number, random: Uint8Array = randomBytes(10)): string {
  const bytes = new Uint8Array(16);
  let time = nowMs;
  for (let i = 5; i >= 0; i--) {
    bytes[i] = time % 256;
    time = Math.floor(time / 256);
  }
  bytes.set(random.subarray(0, 10), 6);
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = Buffer.from(bytes).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

export const randomIds: Ids = {
  next(kind) {
    const id = uuidV7(Date.now());
    return kind === 'thread' || kind === 'turn' ? id : `${kind}_${id.replaceAll('-', '')}`;
  },
  chunk: () => randomBytes(3).toString('hex'),
};

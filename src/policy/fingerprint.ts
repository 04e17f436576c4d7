/**
 * A 64-bit hash of a text as 16 hex digits (FNV-1a in two lanes). It tells policies apart in caches and logs; it is no
 * protection against someone who wants two texts to collide, so confirmations of files use SHA-256 instead.
 */
export function textHash(text: string): string {
  let a = 0x811c9dc5;
  let b = 0x9dc5811c;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ (code + at), 0x01000193);
  }
  return (a >>> 0).toString(16).padStart(8, '0') + (b >>> 0).toString(16).padStart(8, '0');
}

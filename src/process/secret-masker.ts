/** Hides known secret values in what a command printed, before anyone stores or sends it. */

/** Shorter values are not masked: they would match by chance. */
const MIN_SECRET_CHARS = 8;
const MASK = '[secret]';

export interface SecretMasker {
  mask(text: string): string;
  /** A masker for one stream: a value cut in two by chunk borders is found as well. */
  stream(): MaskStream;
}

export interface MaskStream {
  /** What is safe to show of all bytes so far. The start of a possible secret is held back until more arrives. */
  push(bytes: Buffer): Buffer;
  /** What was held back; no more bytes will come. */
  end(): Buffer;
}

/** Masks every occurrence of the given values of at least 8 characters. */
export function createSecretMasker(values: Iterable<string>): SecretMasker {
  const secrets = [...new Set(values)]
    .filter((value) => value.length >= MIN_SECRET_CHARS)
    .sort((a, b) => b.length - a.length);
  const encoded = secrets.map((value) => Buffer.from(value));
  return {
    mask: (text) => secrets.reduce((masked, secret) => masked.replaceAll(secret, MASK), text),
    stream: () => (encoded.length === 0 ? passThrough : maskStream(encoded)),
  };
}

const passThrough: MaskStream = { push: (bytes) => bytes, end: () => Buffer.alloc(0) };

function maskStream(secrets: readonly Buffer[]): MaskStream {
  let held = Buffer.alloc(0);
  return {
    push(bytes) {
      const all = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
      const masked = maskBytes(all, secrets);
      const hold = startOfSecret(masked, secrets);
      held = Buffer.from(masked.subarray(masked.length - hold));
      return masked.subarray(0, masked.length - hold);
    },
    end() {
      const rest = held;
      held = Buffer.alloc(0);
      return rest;
    },
  };
}

function maskBytes(bytes: Buffer, secrets: readonly Buffer[]): Buffer {
  for (const secret of secrets) {
    let at = bytes.indexOf(secret);
    if (at < 0) continue;
    const parts: Buffer[] = [];
    let from = 0;
    for (; at >= 0; at = bytes.indexOf(secret, from)) {
      parts.push(bytes.subarray(from, at), Buffer.from(MASK));
      from = at + secret.length;
    }
    bytes = Buffer.concat([...parts, bytes.subarray(from)]);
  }
  return bytes;
}

/** Length of the longest end of `bytes` that a secret begins with. */
function startOfSecret(bytes: Buffer, secrets: readonly Buffer[]): number {
  let longest = 0;
  for (const secret of secrets) {
    const from = Math.max(0, bytes.length - secret.length + 1);
    for (let at = bytes.indexOf(secret[0]!, from); at >= 0; at = bytes.indexOf(secret[0]!, at + 1)) {
      const length = bytes.length - at;
      if (length <= longest) break;
      if (bytes.compare(secret, 0, length, at) === 0) longest = length;
    }
  }
  return longest;
}

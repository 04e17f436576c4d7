/** Local images as data URLs. Read once per path and moment; a file that cannot be sent becomes a sentence. */
import path from 'node:path';
import { readRegularFile } from '../lib/index.js';
import type { Item, UserInput } from '../protocol/index.js';

/** What a `localImage` came to. */
export type LoadedImage =
  | { readonly kind: 'image'; readonly url: string }
  | { readonly kind: 'note'; readonly text: string };

/** Providers refuse larger images. */
const MAX_IMAGE_BYTES = 20 * 1024 * 1024;

type LocalImage = Extract<UserInput, { type: 'localImage' }>;

/** Remembers by input object: history keeps its objects, so a request repeats what the first one sent. */
export class LocalImages {
  readonly #loaded = new WeakMap<LocalImage, LoadedImage>();

  /** Reads every local image of these items that was not read before. */
  async prepare(items: Iterable<Item>): Promise<void> {
    const missing: LocalImage[] = [];
    for (const item of items) {
      if (item.type !== 'userMessage') continue;
      for (const input of item.content)
        if (input.type === 'localImage' && !this.#loaded.has(input)) missing.push(input);
    }
    if (missing.length === 0) return;
    await Promise.all(missing.map(async (input) => this.#loaded.set(input, await loadImage(input.path))));
  }

  get(input: LocalImage): LoadedImage {
    return this.#loaded.get(input) ?? { kind: 'note', text: `[image ${input.path} was not loaded]` };
  }
}

async function loadImage(file: string): Promise<LoadedImage> {
  const name = path.basename(file);
  try {
    const bytes = await readRegularFile(file, MAX_IMAGE_BYTES);
    const mime = sniff(bytes);
    if (mime === undefined)
      return { kind: 'note', text: `[image ${name} left out: not a PNG, JPEG, GIF or WebP file]` };
    return { kind: 'image', url: `data:${mime};base64,${bytes.toString('base64')}` };
  } catch (error) {
    return { kind: 'note', text: `[image ${name} could not be read: ${(error as Error).message}]` };
  }
}

/** By content, not by name: providers check it. */
function sniff(bytes: Buffer): string | undefined {
  if (bytes.subarray(0, 8).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]))) return 'image/png';
  if (bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) return 'image/jpeg';
  if (/^GIF8[79]a$/.test(bytes.toString('latin1', 0, 6))) return 'image/gif';
  if (bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP') return 'image/webp';
  return undefined;
}

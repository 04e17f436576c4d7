/** `view_image`: puts a local image in front of the model. */
import path from 'node:path';
import { readRegularFile } from '../lib/index.js';
import type { Tool } from '../orchestrator/index.js';
import type { ToolOutcome } from '../protocol/index.js';
import { canonical, findHidden } from './apply-patch/index.js';
import { parseJsonArgs, requireString } from './json-args.js';

/** Larger files are refused: providers refuse them too, after the upload. */
const MAX_IMAGE_BYTES = 20 * 1024 * 1024;

export const viewImageTool: Tool<{ path: string }> = {
  spec: {
    name: 'view_image',
    description:
      'Shows you a local image file (PNG, JPEG, GIF or WebP). Use it when a picture on disk matters for the task.',
    kind: {
      type: 'function',
      parameters: {
        type: 'object',
        properties: { path: { type: 'string', description: 'Path of the image file.' } },
        required: ['path'],
        additionalProperties: false,
      },
    },
  },
  accepts: ['function'],
  gateGroup: 'shared',
  escalation: { escalateOnFailure: false },
  parse: (payload, context) => ({
    path: path.resolve(context.settings.cwd, requireString(parseJsonArgs(payload), 'path')),
  }),
  view: (args) => ({ type: 'image', path: args.path }),
  requirement(args, context) {
    const hidden = findHidden([args.path, ...canonical(args.path)], context.settings.sandbox);
    return hidden
      ? { kind: 'forbidden', reason: `reading \`${args.path}\` is denied by the sandbox policy` }
      : { kind: 'skip', bypassSandbox: false };
  },
  run: (args) => readImage(args.path),
};

async function readImage(file: string): Promise<ToolOutcome> {
  let bytes: Buffer;
  try {
    bytes = await readRegularFile(file, MAX_IMAGE_BYTES);
  } catch (error) {
    const isTooLong = (error as NodeJS.ErrnoException).code === 'EFBIG';
    const what = isTooLong ? 'unable to process image' : `unable to locate image at \`${file}\``;
    return { kind: 'failed', text: `${what}: ${error instanceof Error ? error.message : error}` };
  }
  const type = imageType(bytes);
  if (!type) return { kind: 'failed', text: 'unable to process image: invalid or unsupported image data' };
  const url = `data:image/${type};base64,${bytes.toString('base64')}`;
  return { kind: 'ok', text: `image ${file}`, content: [{ type: 'image', url, detail: 'original' }] };
}

/** The format by its first bytes; undefined when it is none that models read. */
export function imageType(bytes: Buffer): 'png' | 'jpeg' | 'gif' | 'webp' | undefined {
  if (bytes.subarray(0, 8).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]))) return 'png';
  if (bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))) return 'jpeg';
  if (/^GIF8[79]a/.test(bytes.subarray(0, 6).toString('latin1'))) return 'gif';
  if (bytes.subarray(0, 4).toString('latin1') === 'RIFF' && bytes.subarray(8, 12).toString('latin1') === 'WEBP')
    return 'webp';
  return undefined;
}

import type { OutputContent, ToolOutputItem, UserInput } from '../protocol/index.js';
import type { LocalImages } from './images.js';

/** A piece of a message as every wire knows it: text, or an image by URL. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly url: string; readonly detail?: string };

/** The parts of a user message. A model without image input gets a note in an image's place. */
export function userParts(content: readonly UserInput[], images: LocalImages, imagesAllowed: boolean): Part[] {
  return content.map((input): Part => {
    if (input.type === 'text') return { kind: 'text', text: input.text };
    if (!imagesAllowed) return { kind: 'text', text: '[an image was left out: this model cannot read images]' };
    if (input.type === 'image') return { kind: 'image', url: input.url };
    const loaded = images.get(input);
    return loaded.kind === 'image' ? loaded : { kind: 'text', text: loaded.text };
  });
}

/** What the model reads of an output: the hook's replacement, the rich content, or the text. */
export function outputParts(item: ToolOutputItem, imagesAllowed: boolean): string | Part[] {
  if (item.modelText !== undefined) return item.modelText;
  const { outcome } = item;
  const content = outcome.kind === 'ok' || outcome.kind === 'failed' ? outcome.content : undefined;
  return content === undefined ? outcome.text : content.map((piece) => outputPart(piece, imagesAllowed));
}

function outputPart(piece: OutputContent, imagesAllowed: boolean): Part {
  if (piece.type === 'text') return { kind: 'text', text: piece.text };
  if (!imagesAllowed) return { kind: 'text', text: '[an image was left out: this model cannot read images]' };
  return { kind: 'image', url: piece.url, ...(piece.detail === undefined ? {} : { detail: piece.detail }) };
}

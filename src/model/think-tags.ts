/** Thoughts that a server leaves in the text: `<think>…</think>` at the very beginning of a message. */
const OPEN = '<think>';
const CLOSE = '</think>';

export interface Split {
  readonly thought: string;
  readonly text: string;
}

/** Takes text as it streams and says how much of it is thought. A tag may be cut anywhere; a doubtful end is held back. */
export class ThinkTags {
  #phase: 'start' | 'thinking' | 'text' = 'start';
  #held = '';

  push(piece: string): Split {
    const all = this.#held + piece;
    this.#held = '';
    switch (this.#phase) {
      case 'start':
        return this.#begin(all);
      case 'thinking':
        return this.#think(all);
      case 'text':
        return { thought: '', text: all };
    }
  }

  /** What is still held back when the text ends. */
  end(): Split {
    const held = this.#held;
    this.#held = '';
    return this.#phase === 'thinking' ? { thought: held, text: '' } : { thought: '', text: held };
  }

  #begin(all: string): Split {
    const trimmed = all.trimStart();
    if (trimmed.startsWith(OPEN)) {
      this.#phase = 'thinking';
      return this.#think(trimmed.slice(OPEN.length));
    }
    if (OPEN.startsWith(trimmed)) {
      this.#held = all;
      return { thought: '', text: '' };
    }
    this.#phase = 'text';
    return { thought: '', text: all };
  }

  #think(all: string): Split {
    const at = all.indexOf(CLOSE);
    if (at >= 0) {
      this.#phase = 'text';
      return { thought: all.slice(0, at), text: all.slice(at + CLOSE.length).trimStart() };
    }
    const keep = endThatBegins(all, CLOSE);
    this.#held = all.slice(all.length - keep);
    return { thought: all.slice(0, all.length - keep), text: '' };
  }
}

/** Length of the longest end of `text` that is a beginning of `word`. */
function endThatBegins(text: string, word: string): number {
  for (let n = Math.min(text.length, word.length - 1); n > 0; n--) if (word.startsWith(text.slice(-n))) return n;
  return 0;
}

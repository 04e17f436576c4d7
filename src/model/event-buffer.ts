import type { ModelEvent } from './port.js';

type TextEvent = Extract<ModelEvent, { type: 'text' }>;

/**
 * Events decoded and not read yet. Text that piles up is joined into one event: a reader that keeps up sees every delta
 * as it was sent, a slow one gets fewer and larger ones. After the response's end nothing is taken any more.
 */
export class EventBuffer {
  #events: ModelEvent[] = [];
  #head = 0;
  #tail: { type: 'text'; itemId: string; text: string } | undefined;
  #ended = false;

  /** The response has said its last word. */
  get ended(): boolean {
    return this.#ended;
  }

  get isEmpty(): boolean {
    return this.#head === this.#events.length;
  }

  push(event: ModelEvent): void {
    if (this.#ended) return;
    if (event.type === 'text') {
      this.text(event.itemId, event.text);
      return;
    }
    this.#tail = undefined;
    this.#events.push(event);
    if (event.type === 'completed' || event.type === 'incomplete' || event.type === 'failed') this.#ended = true;
  }

  text(itemId: string, text: string): void {
    if (this.#ended) return;
    if (this.#tail?.itemId === itemId) {
      this.#tail.text += text;
      return;
    }
    this.#tail = { type: 'text', itemId, text };
    this.#events.push(this.#tail satisfies TextEvent);
  }

  shift(): ModelEvent | undefined {
    if (this.isEmpty) return undefined;
    const event = this.#events[this.#head++]!;
    if (event === this.#tail) this.#tail = undefined;
    if (this.isEmpty) {
      this.#events = [];
      this.#head = 0;
    }
    return event;
  }
}

/**
 * The calls of one turn: each starts the moment its item is recorded, and each gets exactly one output, whatever
 * happens. Outputs are recorded as they come; the machine puts them into history in call order.
 */
import { setMaxListeners } from 'node:events';
import { outputItem } from '../context/index.js';
import { Interrupted, type ToolCallItem, type ToolOutcome } from '../protocol/index.js';
import type { CallResult } from '../tools/index.js';
import type { OpenCall } from './machine.js';
import type { TurnServices } from './services.js';

/** How long a tool may take to end after an interrupt before it is given up. A process gets 2 s of grace inside it. */
const ABORT_LIMIT_MS = 5_000;

export class ToolCalls {
  readonly #services: TurnServices;
  readonly #signal: AbortSignal;
  readonly #running = new Map<ToolCallItem, Promise<void>>();
  readonly #gaveUp = new AbortController();
  #fatal: { reason: unknown } | undefined;

  constructor(services: TurnServices, signal: AbortSignal) {
    this.#services = services;
    this.#signal = AbortSignal.any([signal, this.#gaveUp.signal]);
    setMaxListeners(0, this.#signal); // one listener a running call
  }

  /** Starts a recorded call. Its failure, if the frame breaks, comes out of `settle`. */
  start(call: ToolCallItem): void {
    if (this.#running.has(call)) return;
    const run = this.#run(call);
    run.catch(() => {}); // `settle` sees it; until then nobody awaits
    this.#running.set(call, run);
  }

  /** Waits for the given calls in order, starting those that nobody started (after a resume). */
  async settle(calls: readonly OpenCall[]): Promise<void> {
    for (const call of calls) this.start(call.item);
    for (const call of calls) await this.#running.get(call.item);
    if (this.#fatal) throw this.#fatal.reason;
  }

  /** The turn is over before its calls are: ends them, and waits until each has come to its end. Never rejects. */
  async end(calls: readonly OpenCall[]): Promise<void> {
    this.#gaveUp.abort(new Interrupted('the turn failed'));
    for (const call of calls) this.start(call.item);
    await Promise.allSettled(calls.map((call) => this.#running.get(call.item)));
  }

  async #run(call: ToolCallItem): Promise<void> {
    const { outcome, modelText } = await this.#result(call);
    const item = { ...outputItem(call, outcome), ...(modelText === undefined ? {} : { modelText }) };
    await this.#services.log.append({ type: 'item.completed', item });
  }

  async #result(call: ToolCallItem): Promise<CallResult> {
    const run = this.#services.runToolCall(call, this.#signal);
    run.catch(() => {}); // it may fail after it was given up
    const limit = abortLimit(this.#signal);
    try {
      return await Promise.race([run, limit.reached]);
    } catch (error) {
      if (this.#signal.aborted) return { outcome: aborted(this.#signal) };
      this.#fatal ??= { reason: error };
      const why = error instanceof Error ? error.message : String(error);
      return { outcome: { kind: 'failed', text: `${call.tool} failed: internal error: ${why}` } };
    } finally {
      limit.cancel();
    }
  }
}

/** Resolves some time after an interrupt, so that a tool that ignores it cannot hold the turn. */
function abortLimit(signal: AbortSignal): { reached: Promise<CallResult>; cancel(): void } {
  let timer: NodeJS.Timeout | undefined;
  let start = () => {};
  const reached = new Promise<CallResult>((resolve) => {
    start = () => {
      timer = setTimeout(() => resolve({ outcome: aborted(signal) }), ABORT_LIMIT_MS);
    };
  });
  if (signal.aborted) start();
  else signal.addEventListener('abort', start, { once: true });
  return {
    reached,
    cancel() {
      clearTimeout(timer);
      signal.removeEventListener('abort', start);
    },
  };
}

function aborted({ reason }: AbortSignal): ToolOutcome {
  const text = reason instanceof Interrupted && reason.why !== 'user' ? `aborted: ${reason.why}` : 'aborted by user';
  return { kind: 'aborted', text };
}

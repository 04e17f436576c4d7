/** Time and ids as ports, so that tests and replay can own them. */
export interface Clock {
  /** Unix time in milliseconds. */
  nowMs(): number;
  /** Resolves after `ms`; rejects with `signal.reason` when aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export interface Ids {
  /** A new id. `thread` and `turn` are UUIDv7; items get a short prefix (`msg_…`). */
  next(kind: 'thread' | 'turn' | 'approval' | 'msg' | 'rs' | 'fc' | 'fco' | 'ctc' | 'ctco' | 'call'): string;
  /** Six hex digits. */
  chunk(): string;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  sleep(ms, signal) {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', stop, { once: true });
      function done() {
        signal.removeEventListener('abort', stop);
        resolve();
      }
      function stop() {
        clearTimeout(timer);
        reject(signal.reason);
      }
    });
  },
};

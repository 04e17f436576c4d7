/** Where a process's output comes from: a pipe or a terminal. Both must say when everything printed has arrived. */
import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { deferred } from '../lib/index.js';
import type { Pty } from './pty.js';

/** How long after the end of a process its output may still be open. */
const DRAIN_MS = 50;

export interface OutputSource {
  onData(listener: (bytes: Buffer) => void): void;
  /** To be called when the process is gone: waits for what it printed, 50 ms at most, and closes. */
  finish(): Promise<void>;
}

/** At its end when all who may write are gone; a background child can keep it open, and is not waited for. */
export function pipeOutput(stream: Readable): OutputSource {
  const ended = deferred<void>();
  const closed = deferred<void>();
  stream.once('end', ended.resolve).once('close', closed.resolve);
  stream.on('error', () => ended.resolve(undefined)); // nothing more will come
  return {
    onData: (listener) => stream.on('data', listener),
    async finish() {
      await atMost(DRAIN_MS, Promise.race([ended.promise, closed.promise]));
      stream.destroy();
      await closed.promise;
    },
  };
}

/**
 * A terminal's end is no help: the kernel reports that the last program has gone before it hands over what was printed
 * last. So this side holds the terminal open too, writes a mark of its own after the end, and waits for it to arrive.
 */
export function terminalOutput(pty: Pty): OutputSource {
  const mark = randomBytes(16).toString('hex');
  const arrived = deferred<void>();
  const closed = deferred<void>();
  let listener: (bytes: Buffer) => void = () => {};
  let last: Buffer | undefined;
  pty.stream.on('data', (bytes: Buffer) => {
    if (!last) return listener(bytes);
    last = Buffer.concat([last, bytes]);
    if (last.includes(mark)) arrived.resolve();
  });
  pty.stream.on('error', () => arrived.resolve()); // nothing more will come
  pty.stream.once('close', closed.resolve);
  return {
    onData(added) {
      listener = added;
    },
    async finish() {
      last = Buffer.alloc(0);
      if (typeMark(pty.name, mark)) await atMost(DRAIN_MS, arrived.promise);
      const at = last.indexOf(mark);
      listener(at < 0 ? last : Buffer.concat([last.subarray(0, at), last.subarray(at + mark.length)]));
      closeSync(pty.slaveFd);
      pty.stream.destroy();
      await closed.promise;
    },
  };
}

/** False when the terminal takes nothing, as when it was stopped by Ctrl-S. */
function typeMark(terminal: string, mark: string): boolean {
  let fd: number | undefined;
  try {
    fd = openSync(terminal, constants.O_WRONLY | constants.O_NOCTTY | constants.O_NONBLOCK);
    return writeSync(fd, mark) === mark.length;
  } catch {
    return false;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** After the wait comes one more look at the output: a busy event loop must not cost what was printed in time. */
function atMost(ms: number, done: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => setImmediate(() => setImmediate(resolve)), ms);
    void done.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

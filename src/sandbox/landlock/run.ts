/** A command under Landlock as a running process: real pipes or a terminal, forked by the restricted thread. */
import { randomUUID } from 'node:crypto';
import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { ReadStream } from 'node:tty';
import type { ProcessExit, RunningProcess, SpawnOptions } from '../../process/index.js';
import { TurnwrightError } from '../../protocol/index.js';
import type { Violation } from '../after.js';
import { sandboxEnvironment } from '../environment.js';
import type { ResolvedPolicy } from '../plan/policy.js';
import type { Libc } from './libc.js';
import { MARK, sweep } from './sweep.js';
import type { Forked, LandlockWorker } from './worker.js';

export interface LandlockRun {
  readonly worker: LandlockWorker;
  readonly libc: Libc;
  readonly policy: ResolvedPolicy;
  /** Looks at what happened and puts it right. */
  readonly after: () => readonly Violation[];
}

const DRAIN_MS = 50;

export async function startUnderLandlock(
  run: LandlockRun,
  argv: readonly string[],
  options: SpawnOptions,
): Promise<RunningProcess> {
  const mark = randomUUID();
  const env = { ...options.env, ...sandboxEnvironment('landlock', run.policy.network), [MARK]: mark };
  const streams = options.tty ? openTerminal(run.libc) : openPipes(run.libc, options.stdin === 'pipe');
  let forked: Forked;
  try {
    forked = await run.worker.fork({ argv: [...streams.prefix, ...argv], cwd: options.cwd, env, stdio: streams.stdio });
  } catch (error) {
    streams.output.destroy();
    streams.input?.destroy();
    throw error;
  } finally {
    streams.started();
  }
  return watch(run, forked, streams, mark);
}

function watch(run: LandlockRun, forked: Forked, streams: Streams, mark: string): RunningProcess {
  const listeners: ((bytes: Buffer) => void)[] = [];
  const early: Buffer[] = [];
  const emit = (bytes: Buffer): void => {
    if (listeners.length === 0) early.push(bytes);
    for (const listener of listeners) listener(bytes);
  };
  streams.output.on('data', emit);
  const drained = new Promise<void>((resolve) => streams.output.once('close', () => resolve()));
  // The master of a terminal reports its end as EIO.
  streams.output.on('error', () => streams.output.destroy());
  const exited = forked.exited.then(async (exit): Promise<ProcessExit> => {
    sweep(forked.pid, mark);
    await Promise.race([drained, new Promise((resolve) => setTimeout(resolve, DRAIN_MS))]);
    streams.output.destroy();
    streams.input?.destroy();
    for (const { text } of run.after()) emit(Buffer.from(`sandbox: ${text}\n`));
    return exit;
  });
  exited.catch(() => undefined);
  const kill = (signal: NodeJS.Signals): void => {
    try {
      process.kill(-forked.pid, signal);
    } catch {
      // It is gone already.
    }
  };
  return {
    pid: forked.pid,
    exited,
    kill,
    canWrite: streams.input !== undefined,
    onOutput(listener) {
      listeners.push(listener);
      for (const bytes of early.splice(0)) listener(bytes);
    },
    write: (text) => writeTo(streams.input, text),
    async terminate(graceMs = 500) {
      kill('SIGTERM');
      const timer = setTimeout(() => kill('SIGKILL'), graceMs);
      await exited;
      clearTimeout(timer);
    },
  };
}

interface Streams {
  readonly stdio: readonly (number | 'ignore')[];
  /** Words before the command. */
  readonly prefix: readonly string[];
  readonly output: Socket | ReadStream;
  readonly input: Writable | undefined;
  /** Closes our copies of the child's ends. */
  started(): void;
}

function openPipes(libc: Libc, withInput: boolean): Streams {
  const [outputRead, outputWrite] = libc.pipe();
  const input = withInput ? libc.pipe() : undefined;
  return {
    stdio: [input === undefined ? 'ignore' : input[0], outputWrite, outputWrite],
    prefix: [],
    output: new Socket({ fd: outputRead, readable: true, writable: false }),
    input: input === undefined ? undefined : new Socket({ fd: input[1], readable: false, writable: true }),
    started() {
      closeSync(outputWrite);
      if (input !== undefined) closeSync(input[0]);
    },
  };
}

/** The first open of the slave by the session leader makes it the controlling terminal. */
function openTerminal(libc: Libc): Streams {
  const { master, slave } = libc.openTerminal(24, 80);
  const stream = new ReadStream(master);
  return {
    stdio: ['ignore', 'ignore', 'ignore'],
    prefix: ['/bin/sh', '-c', 'exec 0<>"$0" 1>&0 2>&0; exec "$@"', slave],
    output: stream,
    input: stream as unknown as Writable,
    started: () => undefined,
  };
}

async function writeTo(stream: Writable | undefined, text: string): Promise<void> {
  if (stream === undefined) throw new TurnwrightError('TW_USAGE', 'the standard input of this command is closed');
  await new Promise<void>((resolve, reject) => stream.write(text, (error) => (error ? reject(error) : resolve())));
}

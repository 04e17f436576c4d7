/** A started command with what it printed. It may outlive its call; then `write_stdin` goes on with it. */
import { constants as os } from 'node:os';
import type { Clock } from '../../lib/index.js';
import {
  type MaskStream,
  OutputBuffer,
  type OutputSlice,
  type ProcessExit,
  type TableEntry,
} from '../../process/index.js';
import type { SandboxPolicy } from '../../protocol/index.js';
import type { SandboxedProcess } from '../../sandbox/index.js';
import type { LiveOutput } from './live-output.js';
import type { SpillFile } from './spill-file.js';

export interface SessionFacts {
  readonly cwd: string;
  /** What it ran under. */
  readonly sandbox: SandboxPolicy;
  readonly tty: boolean;
}

/** Where output goes besides the buffer. */
export interface OutputTaps {
  readonly masker: MaskStream;
  readonly live: LiveOutput;
  readonly spill?: SpillFile;
}

export type WaitEnd = 'exited' | 'running' | 'aborted';

export class CommandSession implements TableEntry {
  readonly facts: SessionFacts;
  /** Resolves when the process is gone and all its output is in. */
  readonly ended: Promise<void>;
  readonly #process: SandboxedProcess;
  readonly #taps: OutputTaps;
  readonly #buffer = new OutputBuffer();
  #exit: ProcessExit | undefined;
  #failure: { readonly reason: unknown } | undefined;

  constructor(process: SandboxedProcess, facts: SessionFacts, taps: OutputTaps) {
    this.#process = process;
    this.facts = facts;
    this.#taps = taps;
    process.onOutput((bytes) => this.#take(taps.masker.push(bytes)));
    this.ended = process.exited.then(
      (exit) => this.#end(exit),
      (reason: unknown) => {
        this.#failure = { reason };
        this.#end({ code: null, signal: null });
      },
    );
  }

  get hasExited(): boolean {
    return this.#exit !== undefined;
  }

  /** Null while it runs. A signal counts as 128 plus its number, as in a shell. */
  get exitCode(): number | null {
    if (!this.#exit) return null;
    const { code, signal } = this.#exit;
    return code ?? (signal === null ? -1 : 128 + os.signals[signal]);
  }

  get exit(): ProcessExit | undefined {
    return this.#exit;
  }

  /** Hosts the network proxy refused to it. */
  get refusedHosts(): readonly string[] {
    return this.#process.refusedHosts?.() ?? [];
  }

  get canWrite(): boolean {
    return this.#process.canWrite;
  }

  /** Path of the file that holds the whole output, when one is kept. */
  get spillPath(): string | undefined {
    return this.#taps.spill?.path;
  }

  /** Waits until the end of the process, `ms`, or an abort. @throws what made it impossible to watch the process. */
  async wait(ms: number, clock: Clock, signal: AbortSignal): Promise<WaitEnd> {
    const stop = new AbortController();
    const abort = () => stop.abort();
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    try {
      const end = await Promise.race<WaitEnd>([
        this.ended.then(() => 'exited'),
        clock.sleep(ms, stop.signal).then(
          () => 'running',
          () => 'aborted',
        ),
      ]);
      if (this.#failure) throw this.#failure.reason;
      return end;
    } finally {
      signal.removeEventListener('abort', abort);
      stop.abort();
    }
  }

  takeNew(): OutputSlice {
    return this.#buffer.takeNew();
  }

  write(text: string): Promise<void> {
    return this.#process.write(text);
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  async terminate(): Promise<void> {
    await this.#process.terminate();
    await this.ended;
  }

  #take(bytes: Buffer): void {
    this.#buffer.append(bytes);
    this.#taps.live.push(bytes);
    this.#taps.spill?.write(bytes);
  }

  #end(exit: ProcessExit): void {
    this.#take(this.#taps.masker.end());
    this.#buffer.end();
    this.#taps.live.end();
    this.#taps.spill?.close();
    this.#exit = exit;
  }
}

/** The process port: a running program with its output as a stream of bytes in arrival order. */

export interface ProcessExit {
  /** Exit status; null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RunningProcess {
  readonly pid: number;
  /** Calls `listener` for each piece of output (stdout and stderr merged in arrival order; a PTY's single stream). */
  onOutput(listener: (bytes: Buffer) => void): void;
  /** Resolves when the process is gone and its pipes are closed, or 50 ms after it is gone. */
  readonly exited: Promise<ProcessExit>;
  /** True for a PTY and for pipes opened with `stdin: 'pipe'`. */
  readonly canWrite: boolean;
  write(text: string): Promise<void>;
  /** Sends a signal to the whole process group. */
  kill(signal: NodeJS.Signals): void;
  /** Ends the whole tree: SIGTERM, a grace period, SIGKILL. Resolves when it is gone. */
  terminate(graceMs?: number): Promise<void>;
}

export interface SpawnOptions {
  /** Absolute. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Allocate a pseudo-terminal of 24 rows by 80 columns. */
  readonly tty: boolean;
  /** Leave stdin open for writing (always so with `tty`). Default: closed. */
  readonly stdin?: 'pipe' | 'closed';
}

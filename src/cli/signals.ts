/** Signals: before a turn runs each ends the program; while one runs the first ends the turn, the second the program. */

export interface SignalWatch {
  /** The exit status that the first signal asks for; undefined while none came. */
  readonly status: number | undefined;
  /** A turn runs from now on: `interrupt` is called once, with the reason the thread should record. */
  turnRuns(interrupt: (reason: string) => void): void;
  stop(): void;
}

const STATUS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
type Watched = keyof typeof STATUS;

/** Ending the program this way, and not by the signal itself, takes its hooks, servers and commands with it. */
export function watchSignals(): SignalWatch {
  let status: number | undefined;
  let interrupt: ((reason: string) => void) | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    if (status !== undefined) process.exit(status);
    status = STATUS[signal as Watched];
    if (!interrupt) process.exit(status);
    interrupt(signal === 'SIGINT' ? 'user' : 'shutdown');
  };
  const signals = Object.keys(STATUS) as Watched[];
  for (const signal of signals) process.on(signal, onSignal);
  return {
    get status() {
      return status;
    },
    turnRuns(callback) {
      interrupt = callback;
    },
    stop() {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}

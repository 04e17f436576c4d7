/** Signals while a turn runs: the first Ctrl-C ends the turn, the second the program. */

export interface SignalWatch {
  /** The exit status that the first signal asks for; undefined while none came. */
  readonly status: number | undefined;
  stop(): void;
}

const STATUS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
type Watched = keyof typeof STATUS;

/** `interrupt` is called once, with the reason the thread should record. */
export function watchSignals(interrupt: (reason: string) => void): SignalWatch {
  let status: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    if (status !== undefined) process.exit(status);
    status = STATUS[signal as Watched];
    interrupt(signal === 'SIGINT' ? 'user' : 'shutdown');
  };
  const signals = Object.keys(STATUS) as Watched[];
  for (const signal of signals) process.on(signal, onSignal);
  return {
    get status() {
      return status;
    },
    stop() {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}

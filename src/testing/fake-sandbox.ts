/** A sandbox that starts nothing: each spawn is answered by a function. For tests of what happens around a process. */
import type { ProcessExit, RunningProcess } from '../process/index.js';
import type { SandboxBackend } from '../sandbox/index.js';

export interface FakeRun {
  readonly output?: string;
  readonly exit?: ProcessExit;
}

export interface FakeSandbox extends SandboxBackend {
  /** Every argv asked for, with the sandbox mode it ran under. */
  readonly spawned: readonly { readonly argv: readonly string[]; readonly mode: string }[];
}

export function fakeSandbox(run: (argv: readonly string[], mode: string) => FakeRun = () => ({})): FakeSandbox {
  const spawned: { argv: readonly string[]; mode: string }[] = [];
  return {
    name: 'fake',
    spawned,
    async spawn(argv, options, signal) {
      signal.throwIfAborted();
      spawned.push({ argv, mode: options.policy.mode });
      return fakeProcess(run(argv, options.policy.mode));
    },
  };
}

function fakeProcess(run: FakeRun): RunningProcess {
  return {
    pid: 0,
    canWrite: false,
    onOutput: (listener) => listener(Buffer.from(run.output ?? '')),
    exited: Promise.resolve(run.exit ?? { code: 0, signal: null }),
    write: async () => {},
    kill: () => {},
    terminate: async () => {},
  };
}

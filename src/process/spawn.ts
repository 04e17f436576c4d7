/**
 * Starts a program in its own session, with its output as one stream. Whatever happens, the call ends: a background
 * child that keeps the output open is waited for 50 ms and not longer.
 */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Writable } from 'node:stream';
import { forgetProcess, isOwnMark, nextMark, registerProcess } from './live-processes.js';
import { type OutputSource, pipeOutput, terminalOutput } from './output-source.js';
import type { ProcessExit, RunningProcess, SpawnOptions } from './process.js';
import { openPty, type Pty } from './pty.js';
import { openSharedPipe } from './shared-pipe.js';
import { MARK_VARIABLE, ProcessTree, sendSignal } from './tree.js';

const GRACE_MS = 2000;
/** Output kept for a listener that has not come yet; what exceeds it is lost. */
const MAX_EARLY_BYTES = 1024 * 1024;

export interface SpawnExtra {
  /** Descriptors the child gets as 3, 4, …; they stay open here. */
  readonly fds?: readonly number[];
  /** Takes standard error out of the stream and receives it: the stream is then standard output alone. Not with `tty`. */
  onErrorOutput?(bytes: Buffer): void;
}

/**
 * Resolves once the program runs.
 * @throws an `ErrnoException` when it cannot: `syscall` is `chdir` when the directory is at fault, `spawn` for the
 * program; `TW_PTY_UNAVAILABLE` when a terminal is asked for and none can be had.
 */
export async function spawnProcess(
  argv: readonly string[],
  options: SpawnOptions,
  extra: SpawnExtra = {},
): Promise<RunningProcess> {
  const given = options.env[MARK_VARIABLE];
  const mark = given !== undefined && isOwnMark(given) ? given : nextMark();
  const env = { ...options.env, [MARK_VARIABLE]: mark };
  const started = await start(argv, { ...options, env }, extra);
  return new SpawnedProcess(started, mark);
}

interface Started {
  readonly child: ChildProcess;
  readonly output: OutputSource;
  readonly input: Writable | null;
}

function start(
  argv: readonly string[],
  options: SpawnOptions,
  { fds = [], onErrorOutput }: SpawnExtra,
): Promise<Started> {
  if (options.tty) return startInTerminal(argv, options, fds);
  return onErrorOutput ? startOnTwoPipes(argv, options, onErrorOutput, fds) : startOnPipe(argv, options, fds);
}

async function startOnTwoPipes(
  argv: readonly string[],
  options: SpawnOptions,
  onErrorOutput: (bytes: Buffer) => void,
  fds: readonly number[],
): Promise<Started> {
  const child = await launch(argv, options, [options.stdin === 'pipe' ? 'pipe' : 'ignore', 'pipe', 'pipe', ...fds]);
  child.stderr?.on('data', onErrorOutput).on('error', () => {}); // the exit says what happened
  return { child, output: pipeOutput(child.stdout!), input: child.stdin };
}

async function startOnPipe(argv: readonly string[], options: SpawnOptions, fds: readonly number[]): Promise<Started> {
  const pipe = await openSharedPipe();
  const stdin = options.stdin === 'pipe' ? 'pipe' : 'ignore';
  if (!pipe) return await startOnSocket(argv, options, stdin, fds);
  let child: ChildProcess;
  try {
    child = await launch(argv, options, [stdin, pipe.writeFd, pipe.writeFd, ...fds]);
  } catch (error) {
    closeSync(pipe.readFd);
    closeSync(pipe.writeFd);
    pipe.release(true);
    throw error;
  }
  closeSync(pipe.writeFd);
  const stream = new Socket({ fd: pipe.readFd, readable: true });
  stream.once('close', () => pipe.release(stream.readableEnded));
  return { child, output: pipeOutput(stream), input: child.stdin };
}

/** Without a shared pipe a shell joins the two streams, so that at least their order is true. */
async function startOnSocket(
  argv: readonly string[],
  options: SpawnOptions,
  stdin: 'pipe' | 'ignore',
  fds: readonly number[],
): Promise<Started> {
  requireProgram(argv[0] ?? '', options);
  const joined = ['/bin/sh', '-c', 'exec "$@" 2>&1', 'sh', ...argv];
  const child = await launch(joined, options, [stdin, 'pipe', 'ignore', ...fds]);
  return { child, output: pipeOutput(child.stdout!), input: child.stdin };
}

/** The native module leaves their masters inheritable, so every child gets `/dev/null` in those places. */
const openTerminals = new Set<Pty>();

async function startInTerminal(
  argv: readonly string[],
  options: SpawnOptions,
  fds: readonly number[],
): Promise<Started> {
  requireProgram(argv[0] ?? '', options);
  const pty = openPty();
  openTerminals.add(pty);
  pty.stream.once('close', () => openTerminals.delete(pty));
  // The shell opens the terminal as leader of a new session, which makes it the controlling terminal: Ctrl-C works.
  const wrapped = ['/bin/sh', '-c', 'exec "$@" <>"$0" >&0 2>&0', pty.name, ...argv];
  try {
    const child = await launch(wrapped, options, [pty.slaveFd, pty.slaveFd, pty.slaveFd, ...fds]);
    return { child, output: terminalOutput(pty), input: pty.stream };
  } catch (error) {
    closeSync(pty.slaveFd);
    pty.stream.destroy();
    throw error;
  }
}

type StdioSlot = 'pipe' | 'ignore' | number;

async function launch(argv: readonly string[], options: SpawnOptions, slots: StdioSlot[]): Promise<ChildProcess> {
  const [file = '', ...args] = argv;
  const nothing = openTerminals.size > 0 ? openSync('/dev/null', 'r') : undefined;
  try {
    const stdio: StdioOptions = [...slots];
    // What is not given explicitly is inherited, `ignore` or not.
    const highest = Math.max(...[...openTerminals].map((terminal) => terminal.masterFd));
    if (nothing !== undefined) while (stdio.length <= highest) stdio.push(nothing);
    const child = spawn(file, args, { cwd: options.cwd, env: options.env, detached: true, stdio });
    await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject));
    return child;
  } catch (error) {
    throw blameDirectory(options.cwd) ?? blameProgram(error, file);
  } finally {
    if (nothing !== undefined) closeSync(nothing);
  }
}

/** The system says `ENOENT` for a missing program and for a missing directory alike. */
function blameDirectory(cwd: string): NodeJS.ErrnoException | undefined {
  try {
    if (!statSync(cwd).isDirectory()) return spawnError('ENOTDIR', -20, 'chdir', cwd);
    accessSync(cwd, constants.X_OK);
    return undefined;
  } catch (cause) {
    const { code = 'ENOENT', errno = -2 } = cause as NodeJS.ErrnoException; // only file-system calls above
    return spawnError(code, errno, 'chdir', cwd);
  }
}

function blameProgram(error: unknown, program: string): unknown {
  const { code, errno } = error as NodeJS.ErrnoException; // from the child's `error` event
  return code === undefined || errno === undefined ? error : spawnError(code, errno, 'spawn', program);
}

/** @throws the error a spawn would give, for programs that are started through a wrapper. */
function requireProgram(program: string, options: SpawnOptions): void {
  const missing = blameDirectory(options.cwd);
  if (missing) throw missing;
  const places = program.includes('/')
    ? [isAbsolute(program) ? program : join(options.cwd, program)]
    : (options.env['PATH'] ?? '/usr/bin:/bin').split(delimiter).map((place) => join(place, program));
  if (!places.some(isProgram)) throw spawnError('ENOENT', -2, 'spawn', program);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function spawnError(code: string, errno: number, syscall: 'chdir' | 'spawn', path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${syscall} ${path} ${code}`), { code, errno, syscall, path });
}

class SpawnedProcess implements RunningProcess {
  readonly pid: number;
  readonly canWrite: boolean;
  readonly exited: Promise<ProcessExit>;
  readonly #started: Started;
  readonly #tree: ProcessTree;
  readonly #listeners: ((bytes: Buffer) => void)[] = [];
  #early: Buffer[] | undefined = [];
  #earlyBytes = 0;
  #hasExited = false;

  constructor(started: Started, mark: string) {
    this.#started = started;
    this.pid = started.child.pid!; // it has been started
    this.canWrite = started.input !== null;
    this.#tree = new ProcessTree(mark, this.pid);
    registerProcess(this.pid);
    this.exited = this.#watch();
    started.input?.on('error', () => {}); // the reader is gone; the exit says so
  }

  /** Output that came before the first listener is given to it at once. */
  onOutput(listener: (bytes: Buffer) => void): void {
    this.#listeners.push(listener);
    for (const bytes of this.#early ?? []) listener(bytes);
    this.#early = undefined;
  }

  write(text: string): Promise<void> {
    const { input } = this.#started;
    if (!input || this.#hasExited) return Promise.resolve();
    return new Promise((resolve) => {
      input.write(text, () => resolve());
    });
  }

  kill(signal: NodeJS.Signals): void {
    if (!this.#hasExited) sendSignal(-this.pid, signal);
  }

  async terminate(graceMs: number = GRACE_MS): Promise<void> {
    await this.#tree.end(graceMs);
    await this.exited;
  }

  async #watch(): Promise<ProcessExit> {
    const { child, output, input } = this.#started;
    output.onData((bytes) => this.#take(bytes));
    const exit = await exitOf(child);
    this.#hasExited = true;
    this.#tree.forgetGroup();
    forgetProcess(this.pid);
    await output.finish();
    input?.destroy();
    return exit;
  }

  #take(bytes: Buffer): void {
    if (this.#early && this.#earlyBytes < MAX_EARLY_BYTES) {
      this.#early.push(bytes);
      this.#earlyBytes += bytes.length;
    }
    for (const listener of this.#listeners) listener(bytes);
  }
}

function exitOf(child: ChildProcess): Promise<ProcessExit> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null)
      resolve({ code: child.exitCode, signal: child.signalCode });
    else child.once('exit', (code, signal) => resolve({ code, signal }));
  });
}

/** A pseudo-terminal, by way of the optional native module. */
import { closeSync, constants, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { ReadStream } from 'node:tty';
import { TurnwrightError } from '../protocol/index.js';

export interface Pty {
  /** Reads what the terminal shows; writing types. */
  readonly stream: ReadStream;
  readonly masterFd: number;
  /** The child's side, blocking. The caller closes it. */
  readonly slaveFd: number;
  /** `/dev/pts/N`. */
  readonly name: string;
}

export const PTY_ROWS = 24;
export const PTY_COLUMNS = 80;

interface NativePty {
  open(columns: number, rows: number): { master: number; slave: number; pty: string };
}

/** @throws `TW_PTY_UNAVAILABLE` when the module is not installed or has no build for this platform. */
export function openPty(): Pty {
  const { master, slave, pty } = loadNative().open(PTY_COLUMNS, PTY_ROWS);
  try {
    // The native side opens it non-blocking, which programs do not expect of their terminal.
    const slaveFd = openSync(pty, constants.O_RDWR | constants.O_NOCTTY);
    return { stream: new ReadStream(master), masterFd: master, slaveFd, name: pty };
  } catch (error) {
    closeSync(master);
    throw error;
  } finally {
    closeSync(slave);
  }
}

let native: NativePty | undefined;

function loadNative(): NativePty {
  if (native) return native;
  const hint = 'install the optional package @lydell/node-pty, or run the command with tty=false';
  try {
    const require = createRequire(import.meta.url);
    const within = createRequire(require.resolve('@lydell/node-pty'));
    native = within(`@lydell/node-pty-${process.platform}-${process.arch}/pty.node`) as NativePty; // version is pinned
    return native;
  } catch (cause) {
    throw new TurnwrightError('TW_PTY_UNAVAILABLE', `no pseudo-terminal support is installed: ${hint}`, { cause });
  }
}

/** The few C calls of the Landlock tier, through koffi when it is installed. */
import { closeSync } from 'node:fs';

export interface Libc {
  /** Landlock's ABI version; below 1 when the kernel has none. */
  landlockAbi(): number;
  /** Marks a descriptor so that no child gets it. False when it is not open. */
  closeOnExec(fd: number): boolean;
  /** `[read end, write end]`, both close-on-exec. */
  pipe(): readonly [number, number];
  /** A new terminal of the given size: its master descriptor and the path of its slave. */
  openTerminal(rows: number, columns: number): { readonly master: number; readonly slave: string };
}

let loading: Promise<Libc | undefined> | undefined;

/** Undefined where koffi is not installed or does not load. */
export function loadLibc(): Promise<Libc | undefined> {
  loading ??= load().catch(() => undefined);
  return loading;
}

const LANDLOCK_CREATE_RULESET = 444;
const VERSION_FLAG = 1;
const F_SETFD = 2;
const FD_CLOEXEC = 1;
const O_CLOEXEC = 0x80000;
const O_RDWR_NOCTTY_CLOEXEC = 0o2 | 0o400 | 0o2000000;
const TIOCSWINSZ = 0x5414;

async function load(): Promise<Libc> {
  const { default: koffi } = await import('koffi');
  const libc = koffi.load(null);
  const syscall = libc.func('long syscall(long number, ...)');
  const pipe2 = libc.func('int pipe2(_Out_ int *ends, int flags)');
  const posixOpenpt = libc.func('int posix_openpt(int flags)');
  const grantpt = libc.func('int grantpt(int fd)');
  const unlockpt = libc.func('int unlockpt(int fd)');
  const ptsname = libc.func('int ptsname_r(int fd, _Out_ uint8_t *name, size_t size)');
  const fcntl = libc.func('int fcntl(int fd, int command, ...)');
  const ioctl = libc.func('int ioctl(int fd, unsigned long request, ...)');
  return {
    landlockAbi: () => Number(syscall(LANDLOCK_CREATE_RULESET, 'void *', null, 'size_t', 0, 'uint32_t', VERSION_FLAG)),
    closeOnExec: (fd) => fcntl(fd, F_SETFD, 'int', FD_CLOEXEC) === 0,
    pipe() {
      const ends = [0, 0];
      if (pipe2(ends, O_CLOEXEC) !== 0) throw new Error(`pipe2 failed with errno ${koffi.errno()}`);
      return [ends[0]!, ends[1]!];
    },
    openTerminal(rows, columns) {
      const master = posixOpenpt(O_RDWR_NOCTTY_CLOEXEC) as number;
      if (master < 0) throw new Error(`posix_openpt failed with errno ${koffi.errno()}`);
      const name = Buffer.alloc(64);
      if (grantpt(master) !== 0 || unlockpt(master) !== 0 || ptsname(master, name, name.length) !== 0) {
        const errno = koffi.errno();
        closeSync(master);
        throw new Error(`opening a terminal failed with errno ${errno}`);
      }
      const size = Buffer.alloc(8);
      size.writeUInt16LE(rows, 0);
      size.writeUInt16LE(columns, 2);
      ioctl(master, TIOCSWINSZ, 'void *', size);
      return { master, slave: name.toString('latin1', 0, name.indexOf(0)) };
    },
  };
}

/**
 * Node opens everything close-on-exec and marks the low descriptors it was born with; one that was inherited at a high
 * number would go on to every command, and with it whatever it is open on.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { loadLibc } from './landlock/libc.js';

const O_CLOEXEC = 0o2000000;
const FIRST = 3;

/** Descriptors of this process that a child would inherit, beyond the standard streams. */
export function inheritableDescriptors(): number[] {
  try {
    return readdirSync('/proc/self/fd')
      .map(Number)
      .filter((fd) => fd >= FIRST && isInheritable(fd));
  } catch {
    return [];
  }
}

/** Keeps them out of every child. Gives those that could not be, because koffi is not installed. */
export async function keepDescriptorsOut(): Promise<readonly number[]> {
  const leaking = inheritableDescriptors();
  const libc = leaking.length === 0 ? undefined : await loadLibc();
  return leaking.filter((fd) => libc?.closeOnExec(fd) !== true);
}

function isInheritable(fd: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0;
  } catch {
    return false; // It was the descriptor of the listing itself.
  }
}

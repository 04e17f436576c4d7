/** What tells a living process from one of the same number that came later or elsewhere. */
import { readFileSync, readlinkSync } from 'node:fs';

export interface Identity {
  readonly bootId: string;
  readonly pidNamespace: string;
}

export function describeSelf(): Identity {
  try {
    return {
      bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
      pidNamespace: readlinkSync('/proc/self/ns/pid'),
    };
  } catch {
    return { bootId: '', pidNamespace: '' };
  }
}

/** Start time of a process in clock ticks, its identity beside the number; empty when it is gone. */
export function startTicks(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? '' : (fields[19] ?? '');
  } catch {
    return '';
  }
}

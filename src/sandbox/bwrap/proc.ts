/**
 * bubblewrap mounts a new `/proc`, but a process whose host uid is 0 owns the kernel's switches in it even without any
 * capability: writing `/proc/sys/kernel/core_pattern` from inside would run code as root on the host.
 */
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcFacts } from './argv.js';

export function procFacts(uid: number): ProcFacts {
  if (uid !== 0) return { readOnly: ['/proc/sys'], masked: [], fromHost: false };
  const readOnly: string[] = [];
  const masked: string[] = [];
  for (const name of readdirSync('/proc').sort()) {
    const path = join('/proc', name);
    const found = /^\d+$/.test(name) ? undefined : lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined || found.isSymbolicLink()) continue;
    if (found.isDirectory()) {
      if (holdsSwitch(path, { left: SCAN_ENTRIES })) readOnly.push(path);
    } else if (name === 'sysrq-trigger') masked.push(path);
    else if ((found.mode & 0o222) !== 0) readOnly.push(path);
  }
  return { readOnly, masked, fromHost: false };
}

const SCAN_ENTRIES = 3000;

/** True when anything below can be written by its owner, or when there is too much to look at. */
function holdsSwitch(folder: string, budget: { left: number }): boolean {
  return readdirSync(folder, { withFileTypes: true }).some((entry) => {
    if (budget.left-- <= 0) return true;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return holdsSwitch(path, budget);
    return entry.isFile() && ((lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o222) !== 0;
  });
}

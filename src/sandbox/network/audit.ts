/** The audit of network decisions: one JSON line each, in a file that is set aside when it grows too long. */
import { appendFileSync, renameSync, statSync } from 'node:fs';
import type { AuditRecord } from './gate.js';

const MAX_BYTES = 8 * 1024 * 1024;

/** Never throws: a full disk must not open or close the network. */
export function auditTo(file: string): (record: AuditRecord) => void {
  return (record) => {
    try {
      if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > MAX_BYTES) renameSync(file, `${file}.1`);
      appendFileSync(file, `${JSON.stringify(record)}\n`, { mode: 0o600 });
    } catch {
      // The decision stands; only its record is lost.
    }
  };
}

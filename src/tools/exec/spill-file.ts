/** The whole output of a command on disk, for hosts that ask for it. Written at once, so it never waits in memory. */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** A command cannot fill the disk. */
const MAX_SPILL_BYTES = 1024 * 1024 * 1024;

export class SpillFile {
  readonly path: string;
  #fd: number | undefined;
  #bytes = 0;

  /** Creates `name` in `directory`, readable by the owner only. A disk that fails ends the file, not the command. */
  constructor(directory: string, name: string) {
    this.path = join(directory, name.replace(/[^\w.-]/g, '_'));
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      this.#fd = openSync(this.path, 'w', 0o600);
    } catch {
      this.#fd = undefined;
    }
  }

  write(bytes: Buffer): void {
    if (this.#fd === undefined || this.#bytes >= MAX_SPILL_BYTES) return;
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at);
      this.#bytes += bytes.length;
    } catch {
      this.close();
    }
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}

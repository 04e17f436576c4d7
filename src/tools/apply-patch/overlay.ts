/**
 * The file system as it will be after the hunks so far, in memory. Every path is first led to its canonical place
 * (all links on the way followed, as the overlay has them), so that two names of one file share one state.
 */
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import type { Entry, PatchFiles } from './patch-files.js';

/** A file the patch has read or written. `bytes` is absent for a file that is only deleted. */
export type PlannedEntry =
  | Exclude<Entry, { kind: 'file' }>
  | {
      readonly kind: 'file';
      /** Undefined for a new file: the process's umask decides. */
      readonly mode: number | undefined;
      readonly size: number;
      readonly bytes?: Buffer;
    };

const MAX_LINKS = 40;

export class Overlay {
  readonly #files: PatchFiles;
  readonly #before = new Map<string, PlannedEntry>();
  readonly #now = new Map<string, PlannedEntry>();

  constructor(files: PatchFiles) {
    this.#files = files;
  }

  /** Canonical place of the entry itself: links in the directories are followed, a link at the end is not. */
  place(path: string): string {
    const absolute = resolve(path);
    const parent = dirname(absolute);
    return parent === absolute ? absolute : join(this.target(parent), basename(absolute));
  }

  /** Canonical place of what the path leads to; goes on as written below a missing component. */
  target(path: string): string {
    let pending = resolve(path).split(sep).filter(Boolean);
    let at: string = sep;
    let links = 0;
    while (pending.length > 0) {
      const next = join(at, pending[0]!);
      const entry = this.look(next);
      pending = pending.slice(1);
      if (entry.kind !== 'link') {
        at = next;
        continue;
      }
      if (++links > MAX_LINKS) throw Object.assign(new Error(`too many links in ${path}`), { code: 'ELOOP' });
      const goal = isAbsolute(entry.target) ? entry.target : join(at, entry.target);
      pending = [...resolve(goal).split(sep).filter(Boolean), ...pending];
      at = sep;
    }
    return at;
  }

  /** `place` is canonical. */
  look(place: string): PlannedEntry {
    const known = this.#now.get(place);
    if (known) return known;
    const entry = this.#files.look(place);
    this.#now.set(place, entry);
    return entry;
  }

  /** The file's bytes, read at most once. */
  async read(place: string): Promise<Buffer> {
    const entry = this.look(place);
    if (entry.kind !== 'file') throw new Error(`${place} is not a file`);
    if (entry.bytes) return entry.bytes;
    const bytes = await this.#files.read(place);
    const loaded = { ...entry, bytes };
    if (this.#before.get(place) === entry) this.#before.set(place, loaded);
    this.#now.set(place, loaded);
    return bytes;
  }

  set(place: string, entry: PlannedEntry): void {
    if (!this.#before.has(place)) this.#before.set(place, this.look(place));
    this.#now.set(place, entry);
  }

  /** Every entry that was set, as it was first and as it is now, in the order of the first change. */
  *touched(): Iterable<{ readonly path: string; readonly before: PlannedEntry; readonly after: PlannedEntry }> {
    for (const [path, before] of this.#before) yield { path, before, after: this.#now.get(path)! };
  }
}

// Medians, and what /proc knows about a process.
import { readFileSync } from 'node:fs';

export function median(values) {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  if (sorted.length === 0) return Number.NaN;
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** For CPU times, whose clock ticks in 10 ms: a median of few would only show ticks. */
export function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Milliseconds on the wall clock, with fractions; comparable with bash's EPOCHREALTIME. */
export function now() {
  return performance.timeOrigin + performance.now();
}

/** Linux counts in hundredths of a second. */
const TICK_MS = 10;

/** CPU so far, milliseconds: of the process itself, and of its children that have ended. Undefined when it is gone. */
export function cpuOf(pid) {
  const text = read(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const [utime, stime, cutime, cstime] = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map(Number);
  return { own: (utime + stime) * TICK_MS, children: (cutime + cstime) * TICK_MS };
}

/** Bytes the process (and its ended children) sent towards the disk so far. */
export function bytesWrittenBy(pid) {
  const text = read(`/proc/${pid}/io`);
  const found = text === undefined ? undefined : /^write_bytes: (\d+)/m.exec(text);
  return found ? Number(found[1]) : undefined;
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Runs `measure(program)` for each program in turn, `rounds` times; resolves with the results by program name. */
export async function interleave(programs, rounds, measure) {
  const results = new Map(programs.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    // The order turns, so that nobody always comes after the same one.
    for (let i = 0; i < programs.length; i++) {
      const program = programs[(i + round) % programs.length];
      results.get(program.name).push(await measure(program, round));
    }
  }
  return results;
}

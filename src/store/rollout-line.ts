/** One line of a rollout: `{"timestamp", "ordinal", "type", "payload"}`, the envelope that Codex rollouts have. Pure. */
import { type Stored, type ThreadRecord, TurnwrightError } from '../protocol/index.js';

export function encodeLine(stored: Stored): string {
  const { type, ...payload } = stored.record;
  const timestamp = new Date(stored.atMs).toISOString();
  return `{"timestamp":"${timestamp}","ordinal":${stored.seq},"type":${JSON.stringify(type)},"payload":${JSON.stringify(payload)}}\n`;
}

/** Record types we understand. A newer version's type keeps its number but says only that it was left out. */
const KNOWN_TYPES: ReadonlySet<string> = new Set<ThreadRecord['type']>([
  'thread.started',
  'turn.started',
  'input.accepted',
  'sampling.started',
  'item.completed',
  'sampling.ended',
  'approval.asked',
  'approval.answered',
  'question.asked',
  'question.answered',
  'tool.started',
  'amendment.learned',
  'history.compacted',
  'hooks.ran',
  'warning',
  'turn.ended',
]);

/** Undefined: the line is not a record. */
export function decodeLine(line: string): Stored | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof parsed !== 'object' || parsed === null) return undefined;
  const { ordinal, type, timestamp, payload } = parsed as Record<string, unknown>;
  if (!Number.isSafeInteger(ordinal) || typeof type !== 'string' || typeof payload !== 'object' || payload === null)
    return undefined;
  const atMs = Date.parse(timestamp as string);
  if (Number.isNaN(atMs)) return undefined;
  return { seq: ordinal as number, atMs, record: toRecord(type, payload) };
}

/** The parsed payload becomes the record itself: loading copies nothing. */
function toRecord(type: string, payload: object): ThreadRecord {
  if (!KNOWN_TYPES.has(type))
    return {
      type: 'warning',
      message: `a record of type ${JSON.stringify(type)} was left out: another version wrote it`,
    };
  return Object.assign(payload, { type }) as ThreadRecord;
}

const NEWLINE = 0x0a;

/**
 * All records of a rollout, in order. What follows the last newline was never finished and is ignored. A line that
 * cannot be read is skipped with a warning if the numbering goes on without it; otherwise `TW_THREAD_CORRUPT`.
 */
export function* decodeRollout(
  bytes: Buffer,
  path: string,
  warn: (message: string) => void,
): Generator<Stored, void, undefined> {
  let expected = 1;
  let unreadable: number | undefined;
  for (let start = 0, line = 1; ; line++) {
    const end = bytes.indexOf(NEWLINE, start);
    if (end < 0) return;
    const stored = decodeLine(bytes.toString('utf8', start, end));
    if (!stored) {
      if (end > start) warn(`${path}:${line}: not a record; the line is skipped`);
      unreadable ??= line;
    } else if (stored.seq === expected) {
      yield stored;
      expected++;
      unreadable = undefined;
    } else {
      throw corrupt(path, unreadable ?? line, `record ${expected} is missing (found ${stored.seq})`);
    }
    start = end + 1;
  }
}

export function corrupt(path: string, line: number, what: string): TurnwrightError {
  return new TurnwrightError(
    'TW_THREAD_CORRUPT',
    `${path}:${line}: ${what}; the thread cannot be continued. Fork it before this point, or remove the file`,
    { facts: { path, line } },
  );
}

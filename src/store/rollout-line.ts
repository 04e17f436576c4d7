/** One line of a rollout: `{"timestamp", "ordinal", "type", "payload"}`, the envelope that Codex rollouts have. Pure. */
import { type Item, type Stored, type ThreadRecord, TurnwrightError } from '../protocol/index.js';

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
    parsed = JSON.parse(line.startsWith('\ufeff') ? line.slice(1) : line); // an editor's byte order mark
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
  const why = KNOWN_TYPES.has(type)
    ? damageOf(type as ThreadRecord['type'], payload as Fields)
    : 'another version wrote it';
  if (why !== undefined)
    return { type: 'warning', message: `a record of type ${JSON.stringify(type)} was left out: ${why}` };
  return Object.assign(payload, { type }) as ThreadRecord;
}

function isLeftOut(record: ThreadRecord): record is Extract<ThreadRecord, { type: 'warning' }> {
  return record.type === 'warning' && /^a record of type .* was left out: /.test(record.message);
}

type Fields = Readonly<Record<string, unknown>>;

/** What makes a record unusable: files are edited by hand and come from other versions. */
function damageOf(type: ThreadRecord['type'], payload: Fields): string | undefined {
  switch (type) {
    case 'thread.started':
      return isObject(payload['settings']) && isObject(payload['settings']['turn']) ? undefined : 'it has no settings';
    case 'turn.started':
      return isText(payload['turnId']) && isObject(payload['settings'])
        ? undefined
        : 'it has no turn id or no settings';
    case 'input.accepted':
    case 'item.completed':
      return itemDamage(payload['item']);
    case 'history.compacted':
      return typeof payload['replaces'] === 'number'
        ? itemDamage(payload['summary'])
        : 'it does not say what it replaces';
    case 'sampling.ended':
      return isObject(payload['result']) ? undefined : 'it has no result';
    default:
      return undefined;
  }
}

const ITEM_CHECKS: Readonly<Record<Item['type'], (item: Fields) => boolean>> = {
  userMessage: ({ content }) => Array.isArray(content) && content.every(isObject),
  context: ({ role, text }) => isText(role) && isText(text),
  agentMessage: ({ text }) => isText(text),
  reasoning: ({ summary }) => Array.isArray(summary) && summary.every(isText),
  toolCall: ({ callId, tool, payload }) =>
    isText(callId) && isText(tool) && isObject(payload) && isText(payload['kind']),
  toolOutput: ({ callId, payloadKind, outcome }) =>
    isText(callId) && isText(payloadKind) && isObject(outcome) && isText(outcome['kind']) && isText(outcome['text']),
  hostedCall: ({ raw }) => isObject(raw),
};

function itemDamage(item: unknown): string | undefined {
  if (!isObject(item) || !isText(item['id']) || !isText(item['type'])) return 'its item cannot be read';
  if (!Object.hasOwn(ITEM_CHECKS, item['type'])) return `its item is of a kind not known here (${item['type']})`;
  return ITEM_CHECKS[item['type'] as Item['type']](item) ? undefined : `its item (${item['type']}) is not complete`;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
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
      if (isLeftOut(stored.record)) warn(`${path}:${line}: ${stored.record.message}`);
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

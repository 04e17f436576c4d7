/**
 * Model scripts: what a scripted model answers to its first, second, … request. The format is that of the conformance
 * recordings, so one file serves demos, tests and recordings alike.
 */
import { readFile } from 'node:fs/promises';
import { TurnwrightError } from '../protocol/index.js';
import { type Json, objectOf } from './json.js';

export type ScriptEvent = Json;

export interface ScriptStep {
  readonly events?: readonly ScriptEvent[];
  /** An HTTP error instead of a stream. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Held until this gate opens. */
  readonly gate?: string;
  /** What the last tool output or user message of the request must contain. */
  readonly expect?: string;
}

export interface Script {
  readonly steps: readonly ScriptStep[];
  /** What happens past the last step. `repeat`: the last step again. `refuse`: an error that says so. */
  readonly after: 'repeat' | 'refuse';
}

/** The event words of the format; each event has exactly one of them. */
const EVENT_WORDS = [
  'text',
  'open_text',
  'reasoning',
  'call',
  'custom',
  'done',
  'failed',
  'incomplete',
  'raw',
  'gate',
  'wait_ms',
  'drop',
  'eof',
  'hold',
] as const;
export type EventWord = (typeof EVENT_WORDS)[number];

const STEP_KEYS = new Set(['events', 'status', 'headers', 'body', 'gate', 'expect']);

/** @throws TW_SCRIPT with file, position and what is wrong. */
export async function loadScript(file: string): Promise<Script> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    throw new TurnwrightError('TW_SCRIPT', `${file}: cannot be read (${(cause as Error).message})`, { cause });
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw new TurnwrightError('TW_SCRIPT', `${file}: not valid JSON: ${(cause as Error).message}`, { cause });
  }
  return parseScript(parsed, file);
}

/**
 * Accepts a list of steps, or an object `{responses, after?}`. `where` names the source in errors.
 * @throws TW_SCRIPT
 */
export function parseScript(value: unknown, where = 'script'): Script {
  const list = Array.isArray(value) ? value : objectOf(value)['responses'];
  if (!Array.isArray(list)) throw wrong(where, 'must be a list of steps or an object with the key "responses"');
  const after = objectOf(value)['after'] ?? 'refuse';
  if (after !== 'repeat' && after !== 'refuse') throw wrong(where, 'after must be "repeat" or "refuse"');
  if (list.length === 0) throw wrong(where, 'has no steps');
  return { steps: list.map((step, i) => parseStep(step, `${where}: step ${i + 1}`)), after };
}

/** The script behind a model name like `scripted:demo.json`, or undefined for any other name. */
export function scriptFileOf(model: string): string | undefined {
  const file = model.startsWith('scripted:') ? model.slice('scripted:'.length) : '';
  return file === '' ? undefined : file;
}

/** The event's one word. */
export function wordOf(event: ScriptEvent): EventWord {
  return EVENT_WORDS.find((word) => event[word] !== undefined) as EventWord;
}

function parseStep(value: unknown, where: string): ScriptStep {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(where, 'must be an object');
  const step = value as Json;
  for (const key of Object.keys(step)) {
    if (!STEP_KEYS.has(key)) throw wrong(where, `unknown key "${key}" (known: ${[...STEP_KEYS].join(', ')})`);
  }
  const { events, status, expect } = step;
  if (events === undefined && status === undefined) throw wrong(where, 'needs "events" or "status"');
  if (status !== undefined && !(Number.isInteger(status) && Number(status) >= 100 && Number(status) < 600)) {
    throw wrong(where, 'status must be an HTTP status');
  }
  if (expect !== undefined && typeof expect !== 'string') throw wrong(where, 'expect must be a text');
  if (events !== undefined && !Array.isArray(events)) throw wrong(where, 'events must be a list');
  for (const [i, event] of (events ?? []).entries()) checkEvent(event, `${where}, event ${i + 1}`);
  return step as ScriptStep;
}

function checkEvent(value: unknown, where: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(where, 'must be an object');
  const event = value as Json;
  const words = EVENT_WORDS.filter((word) => event[word] !== undefined);
  if (words.length !== 1) {
    const found =
      words.length === 0 ? `got ${Object.keys(event).join(', ') || 'nothing'}` : `got ${words.join(' and ')}`;
    throw wrong(where, `needs exactly one of ${EVENT_WORDS.join(', ')}; ${found}`);
  }
  const word = words[0]!;
  const texts: readonly EventWord[] = ['text', 'open_text', 'reasoning', 'call', 'custom', 'incomplete', 'gate'];
  if (texts.includes(word) && typeof event[word] !== 'string') throw wrong(where, `${word} must be a text`);
  if (word === 'custom' && typeof event['input'] !== 'string') throw wrong(where, 'custom needs "input", a text');
  if (word === 'wait_ms' && typeof event[word] !== 'number') throw wrong(where, 'wait_ms must be a number');
  if ((word === 'raw' || word === 'failed') && typeof event[word] !== 'object')
    throw wrong(where, `${word} must be an object`);
}

function wrong(where: string, what: string): TurnwrightError {
  return new TurnwrightError('TW_SCRIPT', `${where}: ${what}`);
}

/**
 * Rules learned from approvals: one line each in `rules/default.rules`, and beside it `default.rules.log`, one JSON line
 * each, that says when, why and where. The rules file holds exactly the bytes Codex 0.171 writes, so either program can
 * keep it; people may edit it at any time.
 */
import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { makeFolder } from '../lib/index.js';
import { TurnwrightError } from '../protocol/index.js';
import { withFileLock } from './file-lock.js';
import { printLearnedRule } from './print-rules.js';
import { parseRules } from './rules/parse-rules.js';
import type { PrefixRule } from './rules/rule.js';

/** When, why and where a rule was learned. */
export interface LearnedNote {
  /** ISO 8601. */
  readonly learnedAt: string;
  readonly thread?: string;
  readonly cwd?: string;
  /** The command a person approved. */
  readonly command?: string;
  readonly reason?: string;
}

export interface LearnedRule {
  readonly line: number;
  readonly text: string;
  readonly rule: PrefixRule;
  /** Absent for a rule somebody wrote by hand. */
  readonly note?: LearnedNote;
}

export function learnedRulesFile(home: string): string {
  return path.join(home, 'rules', 'default.rules');
}

/** Adds `allow prefix` unless the very line is there. Returns whether the file changed. */
export async function learnRule(home: string, prefix: readonly string[], note: LearnedNote): Promise<boolean> {
  const line = printLearnedRule(prefix);
  return changeLearned(home, (text) => {
    if (text.split('\n').includes(line)) return undefined;
    const whole = text === '' || text.endsWith('\n') ? text : `${text}\n`;
    return { text: `${whole}${line}\n`, log: { event: 'learned', rule: line, ...note } };
  });
}

/** Removes a learned or written line by its text. Returns whether it was there. */
export async function revokeRule(home: string, line: string, revokedAt: string): Promise<boolean> {
  return changeLearned(home, (text) => {
    const lines = text.split('\n');
    const kept = lines.filter((candidate) => candidate.trim() !== line.trim());
    if (kept.length === lines.length) return undefined;
    return { text: kept.join('\n'), log: { event: 'revoked', rule: line, learnedAt: revokedAt } };
  });
}

/** Replaces the whole text, when it still is what the caller has read. */
export async function replaceLearned(home: string, before: string, after: string): Promise<boolean> {
  return changeLearned(home, (text) => (text === before ? { text: after } : undefined));
}

/** One-line rules of the file, in order. A file that does not parse has none. */
export function listLearned(home: string): readonly LearnedRule[] {
  const file = learnedRulesFile(home);
  if (!existsSync(file)) return [];
  const text = readFileSync(file, 'utf8');
  const notes = readNotes(home);
  const lines = text.split('\n');
  return parseRules(text, { file }).rules.map((rule) => {
    const line = lines[rule.origin.line - 1]?.trim() ?? '';
    const note = notes.get(line);
    return { line: rule.origin.line, text: line, rule, ...(note ? { note } : {}) };
  });
}

function readNotes(home: string): ReadonlyMap<string, LearnedNote> {
  const log = `${learnedRulesFile(home)}.log`;
  const notes = new Map<string, LearnedNote>();
  if (!existsSync(log)) return notes;
  for (const line of readFileSync(log, 'utf8').split('\n')) {
    const entry = parseNote(line);
    if (entry?.event === 'learned') notes.set(entry.rule, entry.note);
    if (entry?.event === 'revoked') notes.delete(entry.rule);
  }
  return notes;
}

function parseNote(
  line: string,
): { readonly event: string; readonly rule: string; readonly note: LearnedNote } | undefined {
  try {
    const { event, rule, ...note } = JSON.parse(line) as { event: string; rule: string } & LearnedNote;
    return typeof event === 'string' && typeof rule === 'string' ? { event, rule, note } : undefined;
  } catch {
    return undefined;
  }
}

interface Change {
  readonly text: string;
  readonly log?: Readonly<Record<string, unknown>>;
}

async function changeLearned(home: string, change: (text: string) => Change | undefined): Promise<boolean> {
  const file = learnedRulesFile(home);
  try {
    makeFolder(path.dirname(file));
    return await withFileLock(`${file}.lock`, () => {
      const target = writableTarget(file, home);
      const made = change(existsSync(target) ? readFileSync(target, 'utf8') : '');
      if (!made) return false;
      writeWhole(target, made.text);
      if (made.log) appendFileSync(`${file}.log`, `${JSON.stringify(made.log)}\n`, { mode: 0o600 });
      return true;
    });
  } catch (error) {
    if (error instanceof TurnwrightError) throw error;
    throw new TurnwrightError('TW_HOME_WRITE', `${file}: the rule could not be written: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** A link may point inside the home only: a rule must not be written into somebody else's file. */
function writableTarget(file: string, home: string): string {
  if (!(lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() ?? false)) return file;
  const target = realpathSync(file);
  if (!target.startsWith(`${realpathSync(home)}${path.sep}`)) {
    throw new TurnwrightError(
      'TW_HOME_WRITE',
      `${file}: links to ${target}, outside the home directory; the rule was not written`,
    );
  }
  return target;
}

/** Readers see the old file or the new one, never half of it. */
function writeWhole(file: string, text: string): void {
  const temporary = `${file}.${process.pid}.${randomUUID()}.tmp`;
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0o600;
  try {
    writeFileSync(temporary, text, { mode: mode & 0o777 });
    chmodSync(temporary, mode & 0o777);
    renameSync(temporary, file);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Commands from a table: one JSON object per line with `script` or `argv`, and perhaps `cwd`. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { TurnwrightError } from '../../protocol/index.js';
import type { ExecpolicyIo } from './io.js';
import { commandArgv } from './session.js';

export interface CommandRow {
  readonly argv: readonly string[];
  /** Absolute, when the row names one. */
  readonly cwd: string | undefined;
  readonly line: number;
  /** The whole row, for other columns. */
  readonly more: Readonly<Record<string, unknown>>;
}

/** `-` is standard input. @throws TurnwrightError naming file and line. */
export function readCommands(file: string, io: ExecpolicyIo): readonly CommandRow[] {
  const text = readText(file, io);
  return text.split('\n').flatMap((line, i) => (line.trim() === '' ? [] : [readRow(line, i + 1, file, io)]));
}

function readText(file: string, io: ExecpolicyIo): string {
  try {
    return readFileSync(file === '-' ? 0 : path.resolve(io.cwd, file), 'utf8');
  } catch (error) {
    throw new TurnwrightError('TW_INPUT_FILE', `${file}: ${(error as Error).message}`, { cause: error });
  }
}

function readRow(line: string, number: number, file: string, io: ExecpolicyIo): CommandRow {
  const wrong = (why: string) => new TurnwrightError('TW_INPUT_FILE', `${file}:${number}: ${why}`);
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch {
    throw wrong('not a JSON object');
  }
  if (typeof row !== 'object' || row === null || Array.isArray(row)) throw wrong('not a JSON object');
  const { argv, script, cwd } = row as Record<string, unknown>;
  const words = Array.isArray(argv) ? argv : typeof script === 'string' ? commandArgv([script]) : undefined;
  if (!words || words.length === 0 || !words.every((word) => typeof word === 'string')) {
    throw wrong('needs "script": a text, or "argv": a list of words');
  }
  return {
    argv: words,
    cwd: typeof cwd === 'string' ? path.resolve(io.cwd, cwd) : undefined,
    line: number,
    more: row as Record<string, unknown>,
  };
}

/**
 * Project rules a person has confirmed: `confirmed-rules.jsonl` in the home directory, one line per confirmation, bound to
 * the SHA-256 of the file. A changed file has to be confirmed again.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseRules } from './rules/parse-rules.js';

export function confirmationsFile(home: string): string {
  return path.join(home, 'confirmed-rules.jsonl');
}

/** Hashes of confirmed files. Lines that cannot be read confirm nothing. */
export function readConfirmations(file: string): ReadonlySet<string> {
  if (!existsSync(file)) return new Set();
  const hashes = readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => /"sha256":"([0-9a-f]{64})"/.exec(line)?.[1])
    .filter((hash) => hash !== undefined);
  return new Set(hashes);
}

/** Confirms the text as it is now. @throws RulesError when it does not parse. */
export function confirmRules(home: string, file: string, confirmedAt: string): string {
  const text = readFileSync(file, 'utf8');
  parseRules(text, { file });
  const sha256 = rulesHash(text);
  mkdirSync(home, { recursive: true });
  appendFileSync(confirmationsFile(home), `${JSON.stringify({ sha256, file, confirmedAt })}\n`, { mode: 0o600 });
  return sha256;
}

export function rulesHash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

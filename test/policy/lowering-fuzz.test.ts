/**
 * Differential fuzz: random scripts run under real shells, and every program that ran must be among the commands that
 * lowering found, unless lowering said that it could not know. More with TW_FUZZ_SCRIPTS, again with TW_FUZZ_SEED.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Lowered, lowerCommand, type SegmentWord } from '../../src/policy/index.js';
import { Random } from './fuzz/random.js';
import { type RecordedProgram, runRecorded } from './fuzz/run-recorded.js';
import { randomScript } from './fuzz/script-grammar.js';

const SCRIPTS = Number(process.env['TW_FUZZ_SCRIPTS'] ?? 1_000);
const SEED = Number(process.env['TW_FUZZ_SEED'] ?? Date.now() % 1_000_000_000);

describe.each(['bash', 'dash'] as const)('%s runs nothing that lowering did not see', (shell) => {
  it(`${SCRIPTS} scripts from seed ${SEED}`, { timeout: 1_800_000 }, () => {
    const random = new Random(SEED + (shell === 'bash' ? 0 : 1));
    const scripts = Array.from({ length: SCRIPTS }, () => randomScript(random, shell));
    const root = mkdtempSync(path.join(tmpdir(), 'tw-fuzz-'));
    const ran = runRecorded(root, scripts, shell);
    rmSync(root, { recursive: true, force: true });
    const lowered = scripts.map((script) => lowerCommand([`/bin/${shell}`, '-c', script], { cwd: '/w' }));
    const missed = ran.filter((call) => isMissed(lowered[call.script]!, call));
    const shown = missed
      .slice(0, 5)
      .map((call) => ({ ran: call.argv, script: scripts[call.script], seen: seen(lowered[call.script]!) }));
    expect(shown, `seed ${SEED}`).toEqual([]);
    // The test says something only while most scripts are understood and most of them run something.
    const understood = lowered.filter(({ unknown }) => unknown.length === 0).length;
    expect(understood).toBeGreaterThan(SCRIPTS * 0.4);
    expect(new Set(ran.map((call) => call.script)).size).toBeGreaterThan(SCRIPTS * 0.5);
    console.log(`${shell}: seed ${SEED}, ${SCRIPTS} scripts, ${understood} understood, ${ran.length} programs ran`);
  });
});

function seen(lowered: Lowered): string[] {
  return lowered.segments.map(({ words }) =>
    words.map((word) => (typeof word === 'string' ? word : `?${word.text}`)).join(' '),
  );
}

function isMissed(lowered: Lowered, { argv }: RecordedProgram): boolean {
  return lowered.unknown.length === 0 && !lowered.segments.some(({ words }) => fits(words, argv, 0, 0));
}

/** A word known only at run time stands for one word, or for any number when it may split. */
function fits(words: readonly SegmentWord[], argv: readonly string[], at: number, from: number): boolean {
  const word = words[at];
  if (word === undefined) return from === argv.length;
  if (typeof word === 'string') {
    const got = argv[from];
    const same = got === word || (from === 0 && got === word.split('/').at(-1));
    return same && fits(words, argv, at + 1, from + 1);
  }
  if (!word.many) return from < argv.length && fits(words, argv, at + 1, from + 1);
  return fits(words, argv, at + 1, from) || (from < argv.length && fits(words, argv, at, from + 1));
}

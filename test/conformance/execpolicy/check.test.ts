import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runExecpolicyCommand } from '../../../src/cli/execpolicy.js';

interface CheckCase {
  readonly id: string;
  readonly tags: readonly string[];
  readonly rules: readonly (string | { missing?: true; directory?: true; bytes_hex?: string })[];
  readonly argv: readonly string[];
  readonly flags: readonly string[];
  readonly cli?: readonly string[];
  readonly expect: {
    readonly exit: number;
    readonly json?: unknown;
    readonly stdout?: string;
    readonly error_kind?: string;
    readonly error_file?: number;
    readonly error_line?: number;
    readonly unmatched_examples?: readonly string[];
    readonly matched_example?: string;
  };
}

const cases = readFileSync(path.join(import.meta.dirname, 'check.jsonl'), 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line) as CheckCase);

async function run(recorded: CheckCase) {
  const cwd = mkdtempSync(path.join(tmpdir(), 'tw-check-'));
  for (const [i, rule] of recorded.rules.entries()) {
    const file = path.join(cwd, `${i}.rules`);
    if (typeof rule === 'string') writeFileSync(file, rule);
    else if (rule.directory) mkdirSync(file);
    else if (rule.bytes_hex !== undefined) writeFileSync(file, Buffer.from(rule.bytes_hex, 'hex'));
  }
  const args = recorded.cli?.map((word) => word.replaceAll(/\{F(\d+)\}/g, '$1.rules')) ?? [
    ...recorded.rules.flatMap((_, i) => ['-r', `${i}.rules`]),
    ...recorded.flags,
    ...recorded.argv,
  ];
  const written = { stdout: '', stderr: '' };
  const stream = (name: 'stdout' | 'stderr') => ({ write: (text: string) => void (written[name] += text) });
  const io = { stdout: stream('stdout'), stderr: stream('stderr'), cwd, env: {}, home: path.join(cwd, 'home') };
  const exit = await runExecpolicyCommand(['check', ...args], io);
  rmSync(cwd, { recursive: true, force: true });
  return { exit, stdout: written.stdout.replaceAll(cwd, '{CWD}'), stderr: written.stderr.replaceAll(cwd, '{CWD}') };
}

describe('execpolicy check answers as recorded', () => {
  it.each(cases.map((recorded) => [`${recorded.id} ${recorded.tags.join(', ')}`, recorded] as const))('%s', async (_, recorded) => {
    const want = recorded.expect;
    const got = await run(recorded);
    expect(got.exit, got.stderr).toBe(want.exit);
    if (want.json !== undefined) expect(JSON.parse(got.stdout)).toEqual(want.json);
    if (want.stdout !== undefined) expect(got.stdout).toBe(want.stdout);
    if (want.exit !== 0) expect(got.stdout).toBe('');
    if (want.error_kind !== undefined && want.error_kind !== 'usage') expect(got.stderr).toContain(`${want.error_kind}:`);
    if (want.error_file !== undefined) expect(/(\d+)\.rules/.exec(got.stderr)?.[1]).toBe(String(want.error_file));
    if (want.error_line !== undefined) expect(/--> \d+\.rules:(\d+)/.exec(got.stderr)?.[1]).toBe(String(want.error_line));
    for (const example of [...(want.unmatched_examples ?? []), ...(want.matched_example ? [want.matched_example] : [])]) {
      expect(got.stderr).toContain(example);
    }
  });
});

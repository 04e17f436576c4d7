import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { lowerCommand } from '../../../src/policy/index.js';
import { learnedRulesFile, learnRule } from '../../../src/policy/node.js';
import { judge } from './judge.js';
import { closeSession, layRules, openSession, playCall, type RecordedCall, type Session, type Seen } from './run-tool-call.js';

interface Step {
  readonly args: RecordedCall['args'];
  readonly answers?: readonly string[];
  readonly check_file?: string;
  readonly write_rules?: string;
  readonly expect: RecordedCall['expect'];
}
interface Sequence extends Omit<RecordedCall, 'args' | 'expect'> {
  readonly steps: readonly Step[];
}

/** First step that differs on purpose, and why. */
const DIFFERS: Readonly<Record<string, readonly [number, string]>> = {
  s003: [0, 'no rule pins the text of a whole script'],
  s011: [2, 'a file of the workspace does not earn the rule of the program it is named after'],
  s012: [4, 'no rule pins the text of a whole script'],
};

const sequences = readFileSync(path.join(import.meta.dirname, 'sequence.jsonl'), 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line) as Sequence);

/** What a remembered answer is good for: the same command, folder, terminal and permissions. */
function cacheKey({ args }: Step): string {
  const script = String(args['cmd']);
  const lowered = lowerCommand(['/bin/bash', '-lc', script], { cwd: '/' });
  const command = lowered.plain ? lowered.segments.filter(({ parent }) => parent === undefined).map(({ argv }) => argv) : script;
  return JSON.stringify([command, args['workdir'], args['tty'] ?? false, args['sandbox_permissions']]);
}

async function play(session: Session, sequence: Sequence, step: Step, remembered: Set<string>): Promise<string[]> {
  const file = learnedRulesFile(session.home);
  if (step.write_rules !== undefined) writeFileSync(file, session.fill(step.write_rules));
  const call = { ...sequence, ...step, id: sequence.id } as RecordedCall;
  const policy = layOrReload(session, call);
  const seen = playCall(session, policy, call);
  const cached = seen.outcome === 'ask' && remembered.has(cacheKey(step));
  const shown: Seen = cached ? { ...seen, outcome: 'run' } : seen;
  const answer = step.answers?.[0];
  if (shown.outcome === 'ask' && answer === 'acceptForSession') remembered.add(cacheKey(step));
  if (shown.outcome === 'ask' && answer === 'accept-amendment' && seen.answer?.kind === 'needsApproval' && seen.answer.proposed) {
    await learnRule(session.home, seen.answer.proposed.prefix, { learnedAt: '2026-01-01T00:00:00Z' });
  }
  const after = existsSync(file) ? session.bare(readFileSync(file, 'utf8')) : null;
  const problems = judge({ ...call, answers: call.answers ?? [] }, step.expect, shown);
  if (after !== (step.expect.default_rules_after ?? null)) problems.push(`learned rules ${JSON.stringify(after)}`);
  return problems;
}

function layOrReload(session: Session, call: RecordedCall) {
  const file = learnedRulesFile(session.home);
  const text = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  return layRules(session, text === undefined ? call : { ...call, rules: [{ name: 'default.rules', text }] });
}

describe('approvals are remembered as recorded', () => {
  it.each(sequences.map((sequence) => [`${sequence.id} ${sequence.tags.join(', ')}`, sequence] as const))('%s', async (_, sequence) => {
    const session = openSession();
    const remembered = new Set<string>();
    const differing: number[] = [];
    for (const [i, step] of sequence.steps.entries()) {
      const problems = await play(session, sequence, step, remembered);
      if (problems.length === 0) continue;
      differing.push(i);
      if (DIFFERS[sequence.id]?.[0] === i) break;
      expect.soft(problems, `step ${i}: ${JSON.stringify(step.args)}`).toEqual([]);
      break;
    }
    closeSession(session);
    expect(differing).toEqual(DIFFERS[sequence.id] ? [DIFFERS[sequence.id]![0]] : []);
  });
});

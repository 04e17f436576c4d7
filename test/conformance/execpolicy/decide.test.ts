import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { judge } from './judge.js';
import { closeSession, layRules, openSession, playCall, type RecordedCall } from './run-tool-call.js';

/** Cases without a mark that differ on purpose, with what decides about them. */
const DIFFERS: Readonly<Record<string, string>> = {
  d0599: 'without a sandbox deletion asks in every spelling',
  d0966: 'a prompt rule sees past global options',
  d0983: 'quotes inside a word do not change the program',
  d0984: 'a backslash inside a word does not change the program',
  d1039: 'a redirection inside the workspace leaves a covered command covered',
  d1107: 'a duplicated descriptor leaves a covered command covered',
  d1108: 'a covered command that writes outside the workspace asks',
  d1157: 'a literal script in a shell is covered when all its commands are',
  d1234: 'awk is an interpreter: no rule for the whole program is proposed',
  d1244: 'python by its path is an interpreter: no rule for the whole program is proposed',
  d1346: "a project's allow rule waits for a person's confirmation",
  d1348: 'a patch is decided by the patch tool, not by command rules',
};

const cases = readFileSync(path.join(import.meta.dirname, 'decide.jsonl'), 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line) as RecordedCall);

describe('a call of the command tool is decided as recorded', () => {
  const session = openSession();
  afterAll(() => closeSession(session));

  it.each(cases.map((call) => [`${call.id} ${call.tags.join(', ')}`, call] as const))('%s', (_, call) => {
    const seen = playCall(session, layRules(session, call), call);
    const problems = judge(call, call.expect, seen);
    if (DIFFERS[call.id] === undefined) expect(problems).toEqual([]);
    else expect(problems, `${call.id} no longer differs: ${DIFFERS[call.id]}`).not.toEqual([]);
  });
});

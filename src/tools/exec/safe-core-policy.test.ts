import { describe, expect, test } from 'vitest';
import type { ApprovalPolicy } from '../../protocol/index.js';
import { testSettings } from '../../testing/index.js';
import { splitPlainScript } from './plain-script.js';
import type { CommandQuestion } from './policy-port.js';
import { safeCoreCommandPolicy } from './safe-core-policy.js';

const granular = (sandbox_approval: boolean): ApprovalPolicy => ({
  granular: { sandbox_approval, rules: true, mcp_elicitations: true, request_permissions: true, skill_approval: true },
});

function decide(script: string, approvalPolicy: ApprovalPolicy, change: Partial<CommandQuestion> = {}) {
  const argv = ['/bin/bash', '-lc', script];
  const settings = testSettings('/srv', { approvalPolicy });
  return safeCoreCommandPolicy.decide({ argv, script, cwd: '/srv', settings, escalationRequested: false, ...change });
}

const RM = 'rm -f style commands are not permitted. Use a safer approach';

describe('forced removal', () => {
  test.each([
    ['rm -rf ./build', true],
    ['rm -f x', true],
    ['rm --force x', true],
    ['rm x -fr', true],
    ['sudo rm -f x', true],
    ['/bin/rm -Rf x', true],
    ['cd a && rm -rf b', true],
    ['ls | rm -f x; true', true],
    ["rm '-f' x", true],
    ['rm x', false],
    ['rm -r x', false],
    ['echo rm -rf x', false],
    ['rm --foo x', false],
    ['echo "rm -f x"', false],
  ])('%s', (script, dangerous) => {
    const kind = dangerous ? 'forbidden' : 'skip';
    expect(decide(script, 'never')).toMatchObject(dangerous ? { kind, reason: RM } : { kind });
    expect(decide(script, 'on-request')).toMatchObject({ kind: dangerous ? 'needsApproval' : 'skip' });
  });

  test('without sandbox approvals is asked about for this once', () => {
    expect(decide('rm -f x', granular(false))).toMatchObject({ kind: 'needsApproval', once: true });
  });
});

describe('escalation', () => {
  const asked = { escalationRequested: true, justification: 'needs the network' };
  test.each<[string, ApprovalPolicy, object]>([
    ['is asked with the model’s words', 'on-request', { kind: 'needsApproval', reason: 'needs the network' }],
    ['is asked where granular allows', granular(true), { kind: 'needsApproval' }],
    [
      'is refused where nobody is asked',
      'never',
      {
        kind: 'forbidden',
        reason:
          'approval policy is Never; reject command — you cannot ask for escalated permissions if the approval policy is Never',
      },
    ],
    ['is refused under untrusted', 'untrusted', { kind: 'forbidden' }],
    ['is refused where granular forbids', granular(false), { kind: 'forbidden' }],
  ])('%s', (_name, policy, expected) => {
    expect(decide('ls', policy, asked)).toMatchObject(expected);
  });
});

test('untrusted asks for everything', () => {
  expect(decide('ls', 'untrusted')).toEqual({ kind: 'needsApproval' });
});

test.each([
  ['a b', [['a', 'b']]],
  ['a  b && c || d; e | f', [['a', 'b'], ['c'], ['d'], ['e'], ['f']]],
  [`a 'b c' "d e"f`, [['a', 'b c', 'd ef']]],
  ['a;', [['a']]],
  ["a ''", [['a', '']]],
  ['', undefined],
  ['a &', undefined],
  ['a & b', undefined],
  ['a > b', undefined],
  ['a $(b)', undefined],
  ['a "$b"', undefined],
  ['a *', undefined],
  ['a\nb', undefined],
  ['(a)', undefined],
  ['a && && b', undefined],
  ["a 'b", undefined],
])('splitPlainScript(%j)', (script, expected) => {
  expect(splitPlainScript(script)).toEqual(expected);
});

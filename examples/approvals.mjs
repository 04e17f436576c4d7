// A program answers the approvals: it lets one command run and refuses the other.
import assert from 'node:assert/strict';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createScriptedProvider, createSession, parseScript, runTurn } from 'turnwright';

const cwd = await mkdtemp(path.join(tmpdir(), 'turnwright-example-'));
const provider = createScriptedProvider(
  parseScript([
    { events: [{ call: 'exec_command', args: { cmd: 'touch wanted' } }, { done: true }] },
    { events: [{ call: 'exec_command', args: { cmd: 'touch unwanted' } }, { done: true }] },
    { expect: 'not in this house', events: [{ text: 'One of two.' }, { done: true }] },
  ]),
);
const session = await createSession({
  cwd,
  provider,
  ephemeral: true,
  interactive: true, // we answer
  overrides: ['sandbox_mode="workspace-write"', 'approval_policy="untrusted"'],
});

const asked = [];
const thread = await session.start();
function answer(event) {
  if (event.kind !== 'record' || event.stored.record.type !== 'approval.asked') return;
  const { approvalId, view, choices } = event.stored.record.request;
  const script = view.type === 'command' ? view.argv.at(-1) : '';
  asked.push([script, choices.map((choice) => choice.type)]);
  const decision = script === 'touch wanted' ? { type: 'accept' } : { type: 'decline', reason: 'not in this house' };
  thread.answer(approvalId, decision);
}

try {
  const turn = await runTurn(thread, 'make two files', answer);
  assert.equal(turn.status, 'completed', turn.error?.message);
} finally {
  await session.close();
}

await access(path.join(cwd, 'wanted'));
await assert.rejects(access(path.join(cwd, 'unwanted')));
assert.deepEqual(
  asked.map(([script]) => script),
  ['touch wanted', 'touch unwanted'],
);
assert.ok(asked[0][1].includes('acceptForSession'));
await rm(cwd, { recursive: true });
console.log(`approvals: asked ${asked.length} times, choices were ${asked[0][1].join(', ')}`);

// A process is killed while its command runs. Another one takes the thread over, and nothing runs twice.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createScriptedProvider, createSession, parseScript, runTurn } from 'turnwright';

function open(folder, script) {
  const provider = createScriptedProvider(parseScript(script));
  const session = createSession({
    cwd: folder,
    provider,
    env: { ...process.env, TURNWRIGHT_HOME: path.join(folder, 'home') }, // where the thread is kept
    overrides: ['sandbox_mode="workspace-write"'],
  });
  return { provider, session };
}

/** The process that is killed: it tells its parent when the command has had its effect. */
async function victim(folder) {
  const cmd = 'echo ran >> effects; echo started; exec sleep 600';
  const session = await open(folder, [{ events: [{ call: 'exec_command', args: { cmd } }, { done: true }] }]).session;
  const thread = await session.start();
  await runTurn(thread, 'do something slow', (event) => {
    const { delta } = event;
    if (delta?.type === 'command.output' && delta.text.includes('started')) console.log(thread.id);
  });
}

/** Resolves with the thread's id once the victim is dead. */
async function killHalfway(folder) {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = once(child, 'exit');
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  child.kill('SIGKILL');
  await gone;
  return line.trim();
}

async function main() {
  const folder = await mkdtemp(path.join(tmpdir(), 'turnwright-example-'));
  const threadId = await killHalfway(folder);

  const opened = open(folder, [
    { expect: 'go on', events: [{ text: 'I look at what happened first.' }, { done: true }] },
  ]);
  const session = await opened.session;
  try {
    const thread = await session.resume(threadId);
    const turn = await runTurn(thread, 'go on');
    assert.equal(turn.status, 'completed', turn.error?.message);
  } finally {
    await session.close();
  }

  const output = opened.provider.requests[0].input.find((item) => item.type === 'toolOutput');
  assert.equal(output.outcome.kind, 'aborted');
  assert.match(output.outcome.text, /what it changed, is unknown/);
  assert.equal(await readFile(path.join(folder, 'effects'), 'utf8'), 'ran\n'); // once
  await rm(folder, { recursive: true });
  console.log(`resume-after-kill: the model read "${output.outcome.text}"`);
}

await (process.argv[2] === undefined ? main() : victim(process.argv[2]));

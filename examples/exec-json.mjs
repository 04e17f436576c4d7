// Another program's view: run `turnwright exec --json` and read its lines as they come.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const turnwright = fileURLToPath(new URL('bin/turnwright.js', import.meta.resolve('turnwright/package.json')));
const script = fileURLToPath(new URL('scripts/write-a-file.json', import.meta.url));
const cwd = await mkdtemp(path.join(tmpdir(), 'turnwright-example-'));

const args = ['exec', '--json', '--skip-git-repo-check', '--ephemeral', '-s', 'workspace-write', '-C', cwd];
const child = spawn(process.execPath, [turnwright, ...args, '-m', `scripted:${script}`, 'write a greeting'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const exited = once(child, 'exit');

const commands = [];
let answer = '';
let usage;
for await (const line of createInterface({ input: child.stdout })) {
  const event = JSON.parse(line);
  if (event.type === 'item.completed' && event.item.type === 'command_execution') commands.push(event.item);
  if (event.type === 'item.completed' && event.item.type === 'agent_message') answer = event.item.text;
  if (event.type === 'turn.completed') usage = event.usage;
  if (event.type === 'turn.failed') throw new Error(event.error.message);
}
const [status] = await exited;

assert.equal(status, 0);
assert.deepEqual(
  commands.map(({ exit_code, status }) => [exit_code, status]),
  [[0, 'completed']],
);
assert.equal(answer, 'I wrote hello.txt.');
assert.equal(usage.input_tokens, 200);
await rm(cwd, { recursive: true });
console.log(`exec-json: ${commands.length} command, ${usage.input_tokens} tokens in, answer "${answer}"`);

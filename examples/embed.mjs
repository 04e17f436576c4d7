// One turn in your own program, with a model that answers from a script: no key, no network.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createSession } from 'turnwright';

const script = fileURLToPath(new URL('scripts/write-a-file.json', import.meta.url));
const cwd = await mkdtemp(path.join(tmpdir(), 'turnwright-example-'));

const session = await createSession({
  cwd,
  overrides: [`model="scripted:${script}"`, 'sandbox_mode="workspace-write"'],
  ephemeral: true, // keep the thread in memory
});
let said = '';
try {
  const thread = await session.start();
  const events = thread.events();
  await thread.submit([{ type: 'text', text: 'write a greeting into hello.txt' }]);
  for await (const event of events) {
    if (event.kind === 'delta' && event.delta.type === 'text') said += event.delta.text;
    if (event.kind === 'record' && event.stored.record.type === 'turn.ended') break;
  }
} finally {
  await session.close();
}

assert.equal(said, 'I wrote hello.txt.');
assert.equal(await readFile(path.join(cwd, 'hello.txt'), 'utf8'), 'hello\n');
await rm(cwd, { recursive: true });
console.log(`embed: the model said "${said}"`);

// The same scripts over real HTTP: a Chat Completions server that says what it is told to.
import assert from 'node:assert/strict';
import { createSession, parseScript, runTurn, serveScript } from 'turnwright';

const server = await serveScript(parseScript([{ events: [{ text: 'Hello over HTTP.' }, { done: true }] }]));
const session = await createSession({
  ephemeral: true,
  overrides: [
    'model="some-model"',
    'model_provider="mine"',
    `model_providers.mine={ base_url = "${server.url}", wire_api = "chat" }`,
  ],
});
try {
  const turn = await runTurn(await session.start(), 'hello?');
  assert.equal(turn.message, 'Hello over HTTP.', turn.error?.message);
  assert.equal(server.requests[0].path, '/v1/chat/completions');
  assert.equal(server.requests[0].body.model, 'some-model');
} finally {
  await session.close();
  await server.close();
}
console.log(`serve-script: ${server.requests.length} request to ${server.requests[0].path}`);

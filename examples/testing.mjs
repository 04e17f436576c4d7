// The testing kit: a thread with a scripted model, a fake sandbox, and a clock that stands still.
import assert from 'node:assert/strict';
import { call, done, response, say, scriptedModel, startTestThread, testTool, text } from 'turnwright/testing';

const model = scriptedModel([response(call('greet', { name: 'you' }), done()), response(say('done'), done())]);
const greet = testTool({ name: 'greet', run: (args) => ({ kind: 'ok', text: `hello ${args.name}` }) });
const { thread } = await startTestThread({ model, tools: [greet] });
await thread.submit(text('go'));
await thread.idle();
assert.equal(model.requests[1].input.at(-1).outcome.text, 'hello you'); // what the model read
console.log(`testing: ${model.requests.length} requests`);

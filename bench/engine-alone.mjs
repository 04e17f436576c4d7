// The engine without HTTP, processes and disk: `engine-alone.mjs TESTING_JS CALLS THREADS` prints the milliseconds of a
// call early and late in a thread, each once per thread.
import { median } from './lib/numbers.mjs';

const [, , door, calls, threads] = process.argv;
const { startTestThread, testTool, text, TEST_USAGE } = await import(door);

/** Names a call until `count` is reached, and notes when it was asked. */
function countingModel(count) {
  const askedAt = [];
  return {
    id: 'scripted',
    streamMaxRetries: 0,
    askedAt,
    capabilities: () => ({ customTools: true, parallelToolCalls: true, reasoning: true, images: true, known: true }),
    async *sample() {
      const n = askedAt.push(performance.now());
      const payload = { kind: 'function', arguments: '{}' };
      if (n <= count)
        yield { type: 'item', item: { type: 'toolCall', id: `fc_${n}`, callId: `call_${n}`, tool: 'noop', payload } };
      else yield { type: 'item', item: { type: 'agentMessage', id: 'm', text: 'done' } };
      yield { type: 'completed', usage: TEST_USAGE };
    },
  };
}

const output = { kind: 'ok', text: 'x'.repeat(4096) };
const noop = testTool({ name: 'noop', run: () => output });

async function runThread(count) {
  const model = countingModel(count);
  const { thread } = await startTestThread({ model, tools: [noop] });
  await thread.submit(text('go'));
  await thread.idle();
  await thread[Symbol.asyncDispose]();
  const gaps = model.askedAt.slice(1).map((at, n) => at - model.askedAt[n]);
  return { early: median(gaps.slice(5, 25)), late: median(gaps.slice(-20)) };
}

const results = { early: [], late: [] };
await runThread(300); // until the code is compiled
for (let i = 0; i < Number(threads); i++) {
  const { early, late } = await runThread(Number(calls));
  results.early.push(early);
  results.late.push(late);
}
process.stdout.write(JSON.stringify(results));

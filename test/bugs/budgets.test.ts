/** A model that never stops calling is stopped by the first limit it meets: a typed end, a status of its own. */
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { parseScript, serveScript } from '../../src/model/index.js';
import { command, createPlace, execArgs, lines, type Place, processesOf, requireBuild, runProgram } from './support.js';

beforeAll(requireBuild);
let place: Place;
beforeEach(async () => {
  place = await createPlace();
});
afterEach(() => place[Symbol.asyncDispose]());

const endless = (cmd: string, usage = 110) =>
  serveScript(parseScript({ responses: [{ events: [command(cmd), { done: true, usage }] }], after: 'repeat' }));

test.each([
  ['five requests', 'max_steps_per_turn=5', 'true', 5, /budget exhausted: .*5 model requests/],
  ['10,000 tokens', 'max_tokens_per_turn=10000', 'true', 3, /budget exhausted: .*10000 tokens/],
  ['wall time', 'max_wall_seconds_per_turn=1', 'sleep 600', 1, /budget exhausted: .*wall time/],
])('%s', async (_name, limit, cmd, requests, message) => {
  await using server = await endless(cmd, 4000);
  const args = execArgs(server, '--json', '-s', 'danger-full-access', '-c', limit, 'go');
  const run = await runProgram(args, { place });
  expect(run.status).toBe(4);
  expect(server.requests).toHaveLength(requests);
  expect(lines(run).at(-1)).toMatchObject({ type: 'turn.failed', error: { message: expect.stringMatching(message) } });
  expect(processesOf(place)).toEqual([]);
});

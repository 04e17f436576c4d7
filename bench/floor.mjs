// The floor: an agent loop in plain Node with nothing in between. POST, read the stream, spawn, append, again.
// No gates, no rules, no records, no retries. What this costs, every program on Node pays.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';

const { FLOOR_PORT, FLOOR_LOG, FLOOR_BWRAP } = process.env;
const agent = new http.Agent({ keepAlive: true });
const log = fs.openSync(FLOOR_LOG, 'a');
const history = []; // each item serialised once

function remember(item) {
  const text = JSON.stringify(item);
  history.push(text);
  fs.writeSync(log, `${text}\n`);
}

function post() {
  const body = Buffer.from(`{"model":"m","stream":true,"input":[${history.join(',')}]}`);
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  return new Promise((resolve, reject) => {
    http
      .request({ agent, port: FLOOR_PORT, host: '127.0.0.1', path: '/v1/responses', method: 'POST', headers }, resolve)
      .on('error', reject)
      .end(body);
  });
}

function run(command) {
  const argv = ['/bin/bash', '-lc', command];
  const [file, ...args] = FLOOR_BWRAP ? [...JSON.parse(FLOOR_BWRAP), ...argv] : argv;
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (bytes) => (output += bytes));
    child.stderr.on('data', (bytes) => (output += bytes));
    child.on('close', (code) => resolve(`exit ${code}\n${output}`));
  });
}

async function answer(call) {
  const args = JSON.parse(call.arguments);
  const output = args.cmd === undefined ? 'done' : await run(args.cmd);
  remember({ type: 'function_call_output', call_id: call.call_id, output });
}

/** One response; its calls start while it still streams. Resolves with how many there were. */
async function sample() {
  const response = await post();
  response.setEncoding('utf8');
  const calls = [];
  let rest = '';
  for await (const chunk of response) {
    rest += chunk;
    let start = 0;
    for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n', start)) {
      const event = JSON.parse(rest.slice(rest.indexOf('data: ', start) + 6, end));
      start = end + 2;
      if (event.type === 'response.output_text.delta') process.stdout.write(event.delta);
      if (event.type !== 'response.output_item.done') continue;
      remember(event.item);
      if (event.item.type === 'function_call') calls.push(answer(event.item));
    }
    rest = rest.slice(start);
  }
  await Promise.all(calls);
  return calls.length;
}

remember({ type: 'message', role: 'user', content: [{ type: 'input_text', text: process.argv[2] ?? 'go' }] });
while ((await sample()) > 0);
process.exit(0);

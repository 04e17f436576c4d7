// A scripted model server that notes when things happen. It parses nothing, so that it costs the programs nothing.
import http from 'node:http';
import { now } from './numbers.mjs';

/**
 * `steps[n]` answers request n: a list of texts to write and pauses in milliseconds. Each request is noted with
 * `arrivedAt`, `firstWriteAt` (its first event went out), `doneAt` (its last), and `text` where `keepBodies` is set.
 */
export async function serveModel() {
  let script = { steps: [], keepBodies: false, onRequest: () => {} };
  let requests = [];
  const server = http.createServer((request, response) => {
    const arrivedAt = now();
    if (request.method !== 'POST') {
      response.setHeader('content-type', 'application/json');
      return response.end('{"object":"list","data":[],"models":[]}');
    }
    const noted = { arrivedAt };
    const n = requests.push(noted) - 1;
    script.onRequest(n);
    const parts = [];
    request.on('data', (bytes) => script.keepBodies && parts.push(bytes));
    request.on('end', () => {
      noted.text = Buffer.concat(parts).toString();
      play(response, script.steps[n] ?? [], noted).catch(() => response.destroy());
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: server.address().port,
    /** Starts a new script and gives the list that its requests will be noted in. */
    begin(next) {
      script = { keepBodies: false, onRequest: () => {}, ...next };
      requests = [];
      return requests;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function play(response, step, noted) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.socket.setNoDelay(true);
  for (const part of step) {
    if (typeof part === 'number') await new Promise((resolve) => setTimeout(resolve, part));
    else if (!response.write(part)) await new Promise((resolve) => response.once('drain', resolve));
    noted.firstWriteAt ??= now();
  }
  noted.doneAt = now();
  response.end();
}

const event = (body) => `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`;

export const created = (n) => event({ type: 'response.created', response: { id: `resp_${n}` } });

export function completed(n) {
  const usage = {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 10,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 110,
  };
  return event({ type: 'response.completed', response: { id: `resp_${n}`, usage } });
}

export function call(id, tool, args) {
  const item = { type: 'function_call', id: `fc_${id}`, call_id: `call_${id}`, name: tool };
  return event({ type: 'response.output_item.done', item: { ...item, arguments: JSON.stringify(args) } });
}

export const command = (id, cmd) => call(id, 'exec_command', { cmd, yield_time_ms: 10_000 });

const message = (id, text) => ({
  type: 'message',
  role: 'assistant',
  id,
  content: text === undefined ? [] : [{ type: 'output_text', text }],
});

export const messageStart = (id) => event({ type: 'response.output_item.added', item: message(id) });
export const delta = (id, text) =>
  event({ type: 'response.output_text.delta', item_id: id, output_index: 0, content_index: 0, delta: text });
export const messageEnd = (id, text) => event({ type: 'response.output_item.done', item: message(id, text) });

/** A response that only says something, which ends the turn. */
export const lastStep = (n) => [created(n) + messageStart('m') + messageEnd('m', 'done') + completed(n)];

/** Responses with one call each, then the last one. `makeCall(n)` gives the event of call n. */
export function callSteps(count, makeCall) {
  const steps = Array.from({ length: count }, (_, n) => [created(n) + makeCall(n) + completed(n)]);
  return [...steps, lastStep(count)];
}

// `read-stream.mjs raw|decode MODEL_JS BASE_URL`: reads two responses and prints the CPU milliseconds of the second.
import http from 'node:http';

const [, , mode, door, baseUrl] = process.argv;
const read = mode === 'raw' ? readRaw : await decoder();
await read();
const before = process.cpuUsage();
await read();
const { user, system } = process.cpuUsage(before);
process.stdout.write(`${(user + system) / 1000}`);
process.exit(0);

async function readRaw() {
  const response = await new Promise((resolve) => {
    http.request(`${baseUrl}/responses`, { method: 'POST' }, resolve).end('{}');
  });
  let bytes = 0;
  for await (const chunk of response) bytes += chunk.length;
  return bytes;
}

async function decoder() {
  const { createProvider } = await import(door);
  const deps = {
    env: {},
    clock: { nowMs: Date.now, sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) },
    ids: { next: () => 'id', chunk: () => 'c' },
  };
  const provider = createProvider({ id: 'bench', baseUrl, wireApi: 'responses' }, deps);
  return async () => {
    const request = { model: 'gpt-5.5', input: [], tools: [], cacheKey: 'k', metadata: {} };
    let text = 0;
    for await (const event of provider.sample(request, new AbortController().signal)) {
      if (event.type === 'text') text += event.text.length;
      if (event.type === 'failed') throw new Error(event.error.message);
    }
    return text;
  };
}

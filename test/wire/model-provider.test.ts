import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { builtInProvider, createProvider, discoverLocalServers, type ProviderConfig } from '../../src/model/index.js';
import { collect, countingIds, instantClock, provider } from './model-support.js';

const deps = (env: Record<string, string> = {}) => ({ env, clock: instantClock(), ids: countingIds() });

describe('configuration', () => {
  test.each<[string, Partial<ProviderConfig>, RegExp]>([
    [
      'no key',
      { envKey: 'ACME_KEY', envKeyInstructions: 'Ask Bob.' },
      /x needs its key .* ACME_KEY, which is not set\. Ask Bob\./,
    ],
    ['none of several keys', { envKey: ['A', 'B'] }, /A or B/],
    ['no URL', { baseUrl: 'localhost' }, /base_url "localhost" is not a URL/],
    ['another protocol', { baseUrl: 'ftp://x' }, /must begin with http/],
  ])('%s', (_name, config, message) => {
    const make = () => createProvider({ id: 'x', baseUrl: 'http://x/v1', wireApi: 'responses', ...config }, deps());
    expect(make).toThrow(message);
    expect(make).toThrow(expect.objectContaining({ code: 'TW_PROVIDER_CONFIG' }));
  });

  test('built-in providers need no configuration; openai takes either key', () => {
    const openai = builtInProvider('openai', { openaiBaseUrl: 'http://proxy/v1' })!;
    expect(openai.baseUrl).toBe('http://proxy/v1');
    expect(createProvider(openai, deps({ CODEX_API_KEY: 'k' })).id).toBe('openai');
    expect(() => createProvider(openai, deps())).toThrow(/CODEX_API_KEY or OPENAI_API_KEY/);
    for (const id of ['ollama', 'lmstudio', 'llamacpp', 'vllm']) {
      expect(createProvider(builtInProvider(id)!, deps()).capabilities('qwen3').customTools).toBe(false);
    }
    expect(builtInProvider('nobody')).toBeUndefined();
  });

  test('retry counts are capped, capabilities can be overridden', () => {
    const model = provider('http://x/v1', {
      streamMaxRetries: 1000,
      capabilities: { contextWindow: 8000, known: true },
    });
    expect(model.streamMaxRetries).toBe(100);
    expect(model.capabilities('anything')).toMatchObject({ contextWindow: 8000, known: true, customTools: false });
  });
});

describe('connections', () => {
  test('a refused connection is retried, then named with its address', async () => {
    const port = await freePort();
    const clock = instantClock();
    const model = provider(`http://127.0.0.1:${port}/v1`, { requestMaxRetries: 3 }, clock);
    expect(await collect(model)).toMatchObject([
      {
        type: 'failed',
        error: { kind: 'connection', message: expect.stringContaining(`127.0.0.1:${port}/v1 (connection refused)`) },
      },
    ]);
    expect(clock.slept).toEqual([200, 400, 800]);
  });

  test('http goes through the proxy of the environment, except for excluded hosts', async () => {
    const seen: string[] = [];
    const proxy = http.createServer((asked, answer) => {
      seen.push(`${asked.url} ${asked.headers['proxy-authorization'] ?? ''}`);
      asked.resume();
      answer.writeHead(200, { 'content-type': 'text/event-stream' });
      answer.end('data: {"type":"response.completed","response":{"id":"r"}}\n\n');
    });
    proxy.on('connect', (asked, socket) => {
      seen.push(`CONNECT ${asked.url}`);
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    });
    const address = `http://user:pw@127.0.0.1:${await listen(proxy)}`;
    const config = { id: 'x', wireApi: 'responses', requestMaxRetries: 0 } as const;
    const env = { HTTP_PROXY: address, https_proxy: address, NO_PROXY: 'other.example,.invalid' };
    const through = createProvider({ ...config, baseUrl: 'http://model.example/v1' }, deps(env));
    expect((await collect(through)).at(-1)?.type).toBe('completed');
    const secure = createProvider({ ...config, baseUrl: 'https://model.example/v1' }, deps(env));
    expect(await collect(secure)).toMatchObject([
      { type: 'failed', error: { kind: 'connection', message: expect.stringContaining('status 407') } },
    ]);
    const direct = createProvider({ ...config, baseUrl: 'http://some.invalid/v1' }, deps(env));
    expect(await collect(direct)).toMatchObject([{ type: 'failed', error: { kind: 'connection' } }]);
    const basic = Buffer.from('user:pw').toString('base64');
    expect(seen).toEqual([`http://model.example/v1/responses Basic ${basic}`, 'CONNECT model.example:443']);
    proxy.close();
    proxy.closeAllConnections();
  });
});

describe('discovery', () => {
  test('finds servers that list models, and only those', async () => {
    const models = http.createServer((_, answer) =>
      answer.end(JSON.stringify({ data: [{ id: 'qwen3:8b' }, { no: 1 }] })),
    );
    const website = http.createServer((_, answer) => answer.end('<html>'));
    const silent = http.createServer(() => {});
    const servers = [models, website, silent];
    const [ollama, lmstudio, llamacpp] = await Promise.all(servers.map(listen));
    const ports = { ollama: ollama!, lmstudio: lmstudio!, llamacpp: llamacpp!, vllm: await freePort() };
    const found = await discoverLocalServers({ ports, timeoutMs: 300 }, new AbortController().signal);
    expect(found).toMatchObject([
      { server: 'ollama', baseUrl: `http://127.0.0.1:${ollama}/v1`, models: ['qwen3:8b'], config: { wireApi: 'chat' } },
    ]);
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  });
});

async function listen(server: http.Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** A port nobody listens on: it was ours a moment ago. */
async function freePort(): Promise<number> {
  const server = http.createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

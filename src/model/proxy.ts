/** Proxy environment variables. Node 20 does not read them by itself. */
import http from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import tls from 'node:tls';

export type Env = Readonly<Record<string, string | undefined>>;

/** The proxy for a URL, or undefined for a direct connection. Loopback is always direct: no proxy can reach ours. */
export function proxyFor(target: URL, env: Env): URL | undefined {
  const host = target.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (host === 'localhost' || host.endsWith('.localhost') || host === '::1' || host.startsWith('127.'))
    return undefined;
  if (isExcluded(host, portOf(target), read(env, 'NO_PROXY') ?? '')) return undefined;
  const found =
    (target.protocol === 'https:' ? read(env, 'HTTPS_PROXY') : read(env, 'HTTP_PROXY')) ?? read(env, 'ALL_PROXY');
  if (found === undefined) return undefined;
  try {
    const proxy = new URL(found.includes('://') ? found : `http://${found}`);
    return proxy.protocol === 'http:' || proxy.protocol === 'https:' ? proxy : undefined;
  } catch {
    return undefined;
  }
}

/** Lower-case names win, as in curl. */
function read(env: Env, name: string): string | undefined {
  const value = env[name.toLowerCase()] ?? env[name];
  return value === undefined || value.trim() === '' ? undefined : value.trim();
}

function portOf(url: URL): string {
  return url.port || (url.protocol === 'https:' ? '443' : '80');
}

/** Entries: `*`, `host`, `.suffix`, `*.suffix`, each with an optional `:port`. A name also covers its subdomains. */
function isExcluded(host: string, port: string, list: string): boolean {
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      const [, name = entry, only] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
      const bare = name.replace(/^\*?\./, '').replace(/^\[|\]$/g, '');
      return (only === undefined || only === port) && (host === bare || host.endsWith(`.${bare}`));
    });
}

/** `Proxy-Authorization` from the user info of the proxy's URL. */
export function proxyHeaders(proxy: URL): Record<string, string> {
  if (proxy.username === '') return {};
  const user = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` };
}

type Connected = (error: Error | null, socket?: Duplex) => void;

/** An agent whose connections are TLS inside a CONNECT tunnel. */
export class TunnelAgent extends https.Agent {
  readonly #proxy: URL;

  constructor(proxy: URL, options: https.AgentOptions) {
    super(options);
    this.#proxy = proxy;
  }

  // Node calls this for every new connection; an answer by callback alone is allowed.
  override createConnection(options: tls.ConnectionOptions, connected: Connected): undefined {
    const authority = `${options.host}:${options.port}`;
    const request = (this.#proxy.protocol === 'https:' ? https : http).request({
      host: this.#proxy.hostname,
      port: portOf(this.#proxy),
      method: 'CONNECT',
      path: authority,
      headers: { host: authority, ...proxyHeaders(this.#proxy) },
      agent: false,
    });
    request.on('connect', (answer, socket) => {
      if (answer.statusCode !== 200) {
        socket.destroy();
        connected(new Error(`proxy ${this.#proxy.host} refused the connection with status ${answer.statusCode}`));
        return;
      }
      const secure = tls.connect({ ...options, socket, servername: options.servername ?? String(options.host) });
      connected(null, secure);
    });
    request.on('error', (error) => connected(error));
    request.end();
    return undefined;
  }
}

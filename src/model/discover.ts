/** Finds model servers on this machine, so that a person without a key can start at once. */
import http from 'node:http';
import { LOCAL_SERVERS, type LocalServer, localProvider } from './built-in.js';
import { arrayOf, objectOf, parseObject } from './json.js';
import type { ProviderConfig } from './provider.js';

export interface LocalServerFound {
  /** Id of the built-in provider. */
  readonly server: string;
  readonly name: string;
  readonly baseUrl: string;
  /** Names of its models; may be empty. */
  readonly models: readonly string[];
  readonly config: ProviderConfig;
}

export interface DiscoverOptions {
  /** For each server. Default 150. */
  readonly timeoutMs?: number;
  /** Server id → port, instead of the usual ports. Servers left out are not asked. */
  readonly ports?: Readonly<Record<string, number>>;
}

const MAX_LIST_CHARS = 4 * 1024 * 1024;

/** Asks all known ports side by side. Whatever does not answer in time with a model list is not there. */
export async function discoverLocalServers(options: DiscoverOptions, signal: AbortSignal): Promise<LocalServerFound[]> {
  const asked = LOCAL_SERVERS.flatMap((server): [LocalServer, number][] => {
    const port = options.ports === undefined ? server.port : options.ports[server.id];
    return port === undefined ? [] : [[server, port]];
  });
  const found = await Promise.all(
    asked.map(async ([server, port]): Promise<LocalServerFound[]> => {
      const config = localProvider(server, port);
      const models = await listModels(`${config.baseUrl}/models`, options.timeoutMs ?? 150, signal);
      return models ? [{ server: server.id, name: server.name, baseUrl: config.baseUrl, models, config }] : [];
    }),
  );
  signal.throwIfAborted();
  return found.flat();
}

/** Undefined when there is no model list at this address. */
function listModels(url: string, timeoutMs: number, signal: AbortSignal): Promise<string[] | undefined> {
  return new Promise((resolve) => {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const request = http.get(url, { agent: false, signal: limit }, (answer) => {
      let body = '';
      answer.setEncoding('utf8');
      answer.on('data', (text: string) => {
        body += text;
        if (body.length > MAX_LIST_CHARS) answer.destroy();
      });
      answer.on('end', () => resolve(answer.statusCode === 200 ? modelNames(body) : undefined));
      answer.on('error', () => resolve(undefined));
      answer.on('close', () => resolve(undefined));
    });
    request.on('error', () => resolve(undefined));
  });
}

/** OpenAI's form: `{"data":[{"id":…}]}`. */
function modelNames(body: string): string[] | undefined {
  const data = parseObject(body)?.['data'];
  if (!Array.isArray(data)) return undefined;
  return arrayOf(data).flatMap((entry) => {
    const id = objectOf(entry)['id'];
    return typeof id === 'string' ? [id] : [];
  });
}

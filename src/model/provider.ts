/** From configuration to a provider: address, key, headers, wire. */
import type { Clock, Ids } from '../lib/index.js';
import { assertNever, TurnwrightError } from '../protocol/index.js';
import { lookUpModel, type ModelTraits } from './catalogue.js';
import { ChatDecoder } from './chat-decode.js';
import { ChatEncoder } from './chat-encode.js';
import type { EventBuffer } from './event-buffer.js';
import type { ProviderFacts } from './failure.js';
import { createHttpClient } from './http.js';
import { LocalImages } from './images.js';
import { MessagesDecoder } from './messages-decode.js';
import { MessagesEncoder } from './messages-encode.js';
import type { ModelProvider, ModelRequest } from './port.js';
import type { Env } from './proxy.js';
import { ResponsesDecoder } from './responses-decode.js';
import { ResponsesEncoder } from './responses-encode.js';
import { Sampling, type WireDecoder } from './sampling.js';

export type WireApi = 'responses' | 'chat' | 'messages';

/** One model provider as configured. Times are milliseconds. */
export interface ProviderConfig {
  readonly id: string;
  /** For people. Default: the id. */
  readonly name?: string;
  /** Up to and without the endpoint: `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly wireApi: WireApi;
  /** Environment variables that may hold the key; the first one set counts. One must be set. */
  readonly envKey?: string | readonly string[];
  readonly envKeyInstructions?: string;
  /** A key given directly. Wins over `envKey`. */
  readonly apiKey?: string;
  readonly queryParams?: Readonly<Record<string, string>>;
  readonly httpHeaders?: Readonly<Record<string, string>>;
  /** Header name → environment variable. Unset variables leave the header out. */
  readonly envHttpHeaders?: Readonly<Record<string, string>>;
  /** Default 4, at most 100. */
  readonly requestMaxRetries?: number;
  /** Default 5, at most 100. */
  readonly streamMaxRetries?: number;
  /** Default 300,000. */
  readonly streamIdleTimeoutMs?: number;
  /** Chat wire: system messages may stand anywhere, not only first. Default true; false for local servers. */
  readonly systemAnywhere?: boolean;
  /** Replaces what the catalogue says, for every model of this provider. */
  readonly capabilities?: Partial<ModelTraits>;
}

export interface ProviderDeps {
  readonly env: Env;
  readonly clock: Clock;
  readonly ids: Ids;
  /** In [0, 1). Default `Math.random`. */
  readonly random?: () => number;
}

const MAX_RETRIES = 100;

/** One wire: how a request is written, where it goes, how the answer is read. */
interface Wire {
  readonly path: string;
  authorization(key: string): Readonly<Record<string, string>>;
  encode(request: ModelRequest, traits: ModelTraits): Buffer;
  decoder(out: EventBuffer, model: string): WireDecoder;
}

/** @throws TW_PROVIDER_CONFIG when the address is no URL or a needed key is not set. */
export function createProvider(config: ProviderConfig, deps: ProviderDeps): ModelProvider {
  const key = findKey(config, deps.env);
  const provider = factsOf(config, key?.variable);
  const images = new LocalImages();
  const wire = createWire(config, provider, images, deps.ids);
  const url = endpoint(config, wire.path);
  const headers = requestHeaders(config, wire, key?.value, deps.env);
  const http = createHttpClient({
    provider,
    requestMaxRetries: Math.min(config.requestMaxRetries ?? 4, MAX_RETRIES),
    idleTimeoutMs: config.streamIdleTimeoutMs ?? 300_000,
    env: deps.env,
    clock: deps.clock,
    random: deps.random ?? Math.random,
  });
  const traitsOf = (model: string): ModelTraits => ({
    ...wireTraits(config.wireApi, lookUpModel(model)),
    ...config.capabilities,
  });
  return {
    id: config.id,
    streamMaxRetries: Math.min(config.streamMaxRetries ?? 5, MAX_RETRIES),
    capabilities: traitsOf,
    warmUp: () => http.warm(url),
    sample(request, signal) {
      const { model } = request;
      return new Sampling(
        {
          provider,
          model,
          async open(abort) {
            await images.prepare(request.input);
            return http.post({ url, headers, body: wire.encode(request, traitsOf(model)), model }, abort);
          },
          decoder: (out) => wire.decoder(out, model),
        },
        signal,
      );
    },
  };
}

/** Only the Responses wire knows free-text tools and tools the provider runs; Messages has no output schema. */
function wireTraits(wire: WireApi, traits: ModelTraits): ModelTraits {
  if (wire === 'responses') return traits;
  const { outputSchema } = traits;
  return { ...traits, customTools: false, hostedWebSearch: false, outputSchema: outputSchema && wire === 'chat' };
}

function createWire(config: ProviderConfig, provider: ProviderFacts, images: LocalImages, ids: Ids): Wire {
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  switch (config.wireApi) {
    case 'responses': {
      const encoder = new ResponsesEncoder(images);
      return {
        path: 'responses',
        authorization: bearer,
        encode: (request, traits) => encoder.encode(request, traits),
        decoder: (out, model) => new ResponsesDecoder(out, { ids, provider, model }),
      };
    }
    case 'chat': {
      const encoder = new ChatEncoder(images, { systemAnywhere: config.systemAnywhere ?? true });
      return {
        path: 'chat/completions',
        authorization: bearer,
        encode: (request, traits) => encoder.encode(request, traits),
        decoder: (out, model) => new ChatDecoder(out, { ids, provider, model }),
      };
    }
    case 'messages': {
      const encoder = new MessagesEncoder(images);
      return {
        path: 'messages',
        authorization: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
        encode: (request, traits) => encoder.encode(request, traits),
        decoder: (out, model) => new MessagesDecoder(out, { ids, provider, model }),
      };
    }
    default:
      return assertNever(config.wireApi);
  }
}

function findKey(config: ProviderConfig, env: Env): { value: string; variable?: string } | undefined {
  if (config.apiKey !== undefined) return { value: config.apiKey };
  if (config.envKey === undefined) return undefined;
  const names = typeof config.envKey === 'string' ? [config.envKey] : config.envKey;
  for (const variable of names) {
    const value = env[variable]?.trim();
    if (value) return { value, variable };
  }
  const hint = config.envKeyInstructions === undefined ? '' : `. ${config.envKeyInstructions}`;
  throw new TurnwrightError(
    'TW_PROVIDER_CONFIG',
    `model provider ${config.id} needs its key in the environment variable ${names.join(' or ')}, which is not set${hint}`,
    { facts: { provider: config.id, envKey: names } },
  );
}

function factsOf(config: ProviderConfig, variable: string | undefined): ProviderFacts {
  return {
    id: config.id,
    name: config.name ?? config.id,
    baseUrl: config.baseUrl,
    ...(variable === undefined ? {} : { envKey: variable }),
  };
}

function endpoint(config: ProviderConfig, path: string): URL {
  let url: URL;
  try {
    url = new URL(`${config.baseUrl.replace(/\/+$/, '')}/${path}`);
  } catch {
    throw new TurnwrightError(
      'TW_PROVIDER_CONFIG',
      `model provider ${config.id}: base_url ${JSON.stringify(config.baseUrl)} is not a URL; write it like https://host/v1`,
    );
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new TurnwrightError(
      'TW_PROVIDER_CONFIG',
      `model provider ${config.id}: base_url must begin with http:// or https://`,
    );
  }
  for (const [name, value] of Object.entries(config.queryParams ?? {})) url.searchParams.set(name, value);
  return url;
}

function requestHeaders(config: ProviderConfig, wire: Wire, key: string | undefined, env: Env): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    'user-agent': 'turnwright',
    ...(key === undefined ? {} : wire.authorization(key)),
  };
  for (const [name, value] of Object.entries(config.httpHeaders ?? {})) headers[name.toLowerCase()] = value;
  for (const [name, variable] of Object.entries(config.envHttpHeaders ?? {})) {
    const value = env[variable]?.trim();
    if (value) headers[name.toLowerCase()] = value;
  }
  return headers;
}

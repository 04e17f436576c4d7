/** Model providers: the built-in ones and those of `[model_providers]`. Plain data; nothing is looked up here. */
import type { Table } from './layers.js';
import { isTable } from './shape.js';

/** Structurally the model folder's own type; the two layers do not import one another. */
export interface ProviderSettings {
  readonly id: string;
  readonly name?: string;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly wireApi: 'responses' | 'chat' | 'messages';
  /** Environment variable that holds the key. */
  readonly envKey?: string;
  readonly envKeyInstructions?: string;
  readonly apiKey?: string;
  readonly queryParams?: Readonly<Record<string, string>>;
  readonly httpHeaders?: Readonly<Record<string, string>>;
  /** Header name → environment variable. */
  readonly envHttpHeaders?: Readonly<Record<string, string>>;
  /** Silent retries before a response body. Default 4. */
  readonly requestMaxRetries: number;
  /** Visible retries of a broken stream. Default 5. */
  readonly streamMaxRetries: number;
  /** Default 300,000. */
  readonly streamIdleTimeoutMs: number;
}

const DEFAULTS = { requestMaxRetries: 4, streamMaxRetries: 5, streamIdleTimeoutMs: 300_000 } as const;

const BUILT_IN: readonly ProviderSettings[] = [
  {
    id: 'openai',
    name: 'OpenAI',
    baseUrl: 'https://api.openai.com/v1',
    wireApi: 'responses',
    envKey: 'OPENAI_API_KEY',
    ...DEFAULTS,
  },
  {
    id: 'anthropic',
    name: 'Anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    wireApi: 'messages',
    envKey: 'ANTHROPIC_API_KEY',
    ...DEFAULTS,
  },
  { id: 'ollama', name: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1', wireApi: 'chat', ...DEFAULTS },
  { id: 'lmstudio', name: 'LM Studio', baseUrl: 'http://127.0.0.1:1234/v1', wireApi: 'chat', ...DEFAULTS },
  { id: 'llamacpp', name: 'llama.cpp server', baseUrl: 'http://127.0.0.1:8080/v1', wireApi: 'chat', ...DEFAULTS },
  { id: 'vllm', name: 'vLLM', baseUrl: 'http://127.0.0.1:8000/v1', wireApi: 'chat', ...DEFAULTS },
];

/** These ids cannot be redefined (Codex 0.171); `openai_base_url` moves the address of `openai`. */
const RESERVED = ['openai', 'ollama', 'lmstudio'];

/** All providers by id. An entry without `base_url` is left out; choosing it is an error of its own. */
export function buildProviders(table: Table): ReadonlyMap<string, ProviderSettings> {
  const configured = isTable(table['model_providers']) ? table['model_providers'] : {};
  const providers = new Map(BUILT_IN.map((provider) => [provider.id, provider]));
  for (const [id, entry] of Object.entries(configured)) {
    if (isTable(entry) && typeof entry['base_url'] === 'string') providers.set(id, readProvider(id, entry));
  }
  const openai = providers.get('openai')!;
  if (typeof table['openai_base_url'] === 'string')
    providers.set('openai', { ...openai, baseUrl: trimSlash(table['openai_base_url']) });
  return providers;
}

export function isReservedProvider(id: string): boolean {
  return RESERVED.includes(id);
}

function readProvider(id: string, entry: Table): ProviderSettings {
  return {
    id,
    ...text('name', entry['name']),
    baseUrl: trimSlash(entry['base_url'] as string),
    wireApi: (entry['wire_api'] as ProviderSettings['wireApi'] | undefined) ?? 'responses',
    ...text('envKey', entry['env_key']),
    ...text('envKeyInstructions', entry['env_key_instructions']),
    ...text('apiKey', entry['experimental_bearer_token']),
    ...texts('queryParams', entry['query_params']),
    ...texts('httpHeaders', entry['http_headers']),
    ...texts('envHttpHeaders', entry['env_http_headers']),
    requestMaxRetries: (entry['request_max_retries'] as number | undefined) ?? DEFAULTS.requestMaxRetries,
    streamMaxRetries: (entry['stream_max_retries'] as number | undefined) ?? DEFAULTS.streamMaxRetries,
    streamIdleTimeoutMs: (entry['stream_idle_timeout_ms'] as number | undefined) ?? DEFAULTS.streamIdleTimeoutMs,
  };
}

function text<K extends string>(name: K, value: unknown): { [P in K]?: string } {
  return typeof value === 'string' ? ({ [name]: value } as { [P in K]?: string }) : {};
}

function texts<K extends string>(name: K, value: unknown): { [P in K]?: Readonly<Record<string, string>> } {
  return isTable(value) ? ({ [name]: value } as { [P in K]?: Readonly<Record<string, string>> }) : {};
}

function trimSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

/** Model providers as configured. Plain data: built-in ones and keys are the model folder's business. */
import type { Table } from './layers.js';
import { isTable } from './shape.js';

/** Structurally the model folder's own type; the two layers do not import one another. */
export interface ProviderSettings {
  readonly id: string;
  readonly name?: string;
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
  /** Silent retries before a response body. */
  readonly requestMaxRetries?: number;
  /** Visible retries of a broken stream. */
  readonly streamMaxRetries?: number;
  readonly streamIdleTimeoutMs?: number;
}

/** These ids cannot be redefined (Codex 0.171); `openai_base_url` moves the address of `openai`. */
const RESERVED = ['openai', 'ollama', 'lmstudio'];

/** The entries of `[model_providers]` by id. One without `base_url` is left out; choosing it is an error of its own. */
export function readProviders(table: Table): ReadonlyMap<string, ProviderSettings> {
  const configured = isTable(table['model_providers']) ? table['model_providers'] : {};
  const providers = new Map<string, ProviderSettings>();
  for (const [id, entry] of Object.entries(configured)) {
    if (isTable(entry) && typeof entry['base_url'] === 'string') providers.set(id, readProvider(id, entry));
  }
  return providers;
}

export function isReservedProvider(id: string): boolean {
  return RESERVED.includes(id);
}

function readProvider(id: string, entry: Table): ProviderSettings {
  return {
    id,
    ...text('name', entry['name']),
    baseUrl: entry['base_url'] as string,
    wireApi: (entry['wire_api'] as ProviderSettings['wireApi'] | undefined) ?? 'responses',
    ...text('envKey', entry['env_key']),
    ...text('envKeyInstructions', entry['env_key_instructions']),
    ...text('apiKey', entry['experimental_bearer_token']),
    ...texts('queryParams', entry['query_params']),
    ...texts('httpHeaders', entry['http_headers']),
    ...texts('envHttpHeaders', entry['env_http_headers']),
    ...number('requestMaxRetries', entry['request_max_retries']),
    ...number('streamMaxRetries', entry['stream_max_retries']),
    ...number('streamIdleTimeoutMs', entry['stream_idle_timeout_ms']),
  };
}

function text<K extends string>(name: K, value: unknown): { [P in K]?: string } {
  return typeof value === 'string' ? ({ [name]: value } as { [P in K]?: string }) : {};
}

function number<K extends string>(name: K, value: unknown): { [P in K]?: number } {
  return typeof value === 'number' ? ({ [name]: value } as { [P in K]?: number }) : {};
}

function texts<K extends string>(name: K, value: unknown): { [P in K]?: Readonly<Record<string, string>> } {
  return isTable(value) ? ({ [name]: value } as { [P in K]?: Readonly<Record<string, string>> }) : {};
}

/** Providers that need no configuration. Their ids cannot be redefined in a config file. */
import type { ProviderConfig } from './provider.js';

/** A local server speaks to this machine only and needs no key. */
export interface LocalServer {
  readonly id: string;
  readonly name: string;
  readonly port: number;
}

export const LOCAL_SERVERS: readonly LocalServer[] = [
  { id: 'ollama', name: 'Ollama', port: 11434 },
  { id: 'lmstudio', name: 'LM Studio', port: 1234 },
  { id: 'llamacpp', name: 'llama.cpp', port: 8080 },
  { id: 'vllm', name: 'vLLM', port: 8000 },
];

export const OPENAI_KEY_VARIABLES = ['CODEX_API_KEY', 'OPENAI_API_KEY'] as const;

/** The built-in provider of this id, or undefined. `openaiBaseUrl` overrides the address of `openai` only. */
export function builtInProvider(id: string, options: { openaiBaseUrl?: string } = {}): ProviderConfig | undefined {
  const local = LOCAL_SERVERS.find((server) => server.id === id);
  if (local) return localProvider(local);
  switch (id) {
    case 'openai':
      return {
        id,
        name: 'OpenAI',
        baseUrl: options.openaiBaseUrl ?? 'https://api.openai.com/v1',
        wireApi: 'responses',
        envKey: OPENAI_KEY_VARIABLES,
        envKeyInstructions: 'Create a key at https://platform.openai.com/api-keys and export it.',
      };
    case 'openrouter':
      return {
        id,
        name: 'OpenRouter',
        baseUrl: 'https://openrouter.ai/api/v1',
        wireApi: 'chat',
        envKey: 'OPENROUTER_API_KEY',
        envKeyInstructions: 'Create a key at https://openrouter.ai/keys and export it.',
      };
    case 'anthropic':
      return {
        id,
        name: 'Anthropic',
        baseUrl: 'https://api.anthropic.com/v1',
        wireApi: 'messages',
        envKey: 'ANTHROPIC_API_KEY',
        envKeyInstructions: 'Create a key at https://console.anthropic.com and export it.',
      };
    default:
      return undefined;
  }
}

export function localProvider(server: LocalServer, port: number = server.port): ProviderConfig {
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  return { id: server.id, name: server.name, baseUrl, wireApi: 'chat', systemAnywhere: false };
}

export const BUILT_IN_PROVIDER_IDS: readonly string[] = [
  'openai',
  ...LOCAL_SERVERS.map((server) => server.id),
  'openrouter',
  'anthropic',
  'scripted',
];

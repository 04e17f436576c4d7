/**
 * Which model and provider a session uses: what configuration says, else OpenAI when its key is set, else a local server
 * that answers. Nothing is ever guessed silently: a choice made for the person is told.
 */
import { type Config, nearestWord } from '../config/index.js';
import type { Clock, Ids } from '../lib/index.js';
import {
  BUILT_IN_PROVIDER_IDS,
  builtInProvider,
  createProvider,
  createScriptedProvider,
  discoverLocalServers,
  type LocalServerFound,
  loadScript,
  type ModelProvider,
  OPENAI_KEY_VARIABLES,
  type ProviderConfig,
} from '../model/index.js';
import { TurnwrightError } from '../protocol/index.js';
import type { SessionRequest } from './session-config.js';

export interface ChosenModel {
  readonly model: string;
  readonly provider: ModelProvider;
  /** Providers of other ids, for threads that were started with them. */
  other(id: string): ModelProvider;
  /** Environment variables that hold keys of configured providers. */
  readonly keyNames: readonly string[];
}

export interface ChoiceDeps {
  readonly clock: Clock;
  readonly ids: Ids;
}

const DEFAULT_MODEL = 'gpt-5.5';
const SCRIPTED = /^scripted:(.+)$/;

/** Throws `TW_NO_PROVIDER`, `TW_CONFIG_VALUE`, `TW_PROVIDER_CONFIG` or `TW_SCRIPT`. */
export async function chooseModel(config: Config, request: SessionRequest, deps: ChoiceDeps): Promise<ChosenModel> {
  const made = new Map<string, ModelProvider>();
  const open = (provider: ProviderConfig): ModelProvider => {
    const known = made.get(provider.id) ?? createProvider(provider, { env: request.env, ...deps });
    made.set(provider.id, known);
    return known;
  };
  const rest = { other: (id: string) => open(findProvider(config, id)), keyNames: keyNames(config) };
  if (request.provider) return { model: config.model ?? request.provider.id, provider: request.provider, ...rest };
  const script = SCRIPTED.exec(config.model ?? '')?.[1];
  if (script !== undefined) {
    const provider = createScriptedProvider(await loadScript(script), { source: script, ...deps });
    made.set(provider.id, provider);
    return { model: config.model!, provider, ...rest };
  }
  const choice = await chooseConfig(config, request);
  return { model: choice.model, provider: open(choice.provider), ...rest };
}

interface Choice {
  readonly model: string;
  readonly provider: ProviderConfig;
}

async function chooseConfig(config: Config, request: SessionRequest): Promise<Choice> {
  const named = request.local?.provider ?? (request.local ? config.ossProvider : config.modelProvider);
  if (named !== undefined) return fromProvider(findProvider(config, named), config);
  if (request.local) return fromServer(await findServer(request), config, request);
  const hasKey = OPENAI_KEY_VARIABLES.some((name) => request.env[name]?.trim());
  if (hasKey || config.openaiBaseUrl !== undefined) return fromProvider(findProvider(config, 'openai'), config);
  return fromServer(await findServer(request), config, request);
}

/** A local server without a chosen model offers its first one. */
async function fromProvider(provider: ProviderConfig, config: Config): Promise<Choice> {
  if (config.model !== undefined) return { model: config.model, provider };
  if (provider.wireApi === 'responses') return { model: DEFAULT_MODEL, provider };
  const found = (await discoverLocalServers({}, neverAborted())).find((server) => server.server === provider.id);
  if (found?.models[0] !== undefined) return { model: found.models[0], provider };
  throw new TurnwrightError(
    'TW_CONFIG_VALUE',
    `no model is chosen for provider ${provider.id}; name one with -m MODEL or model = "MODEL" in config.toml`,
    { facts: { provider: provider.id } },
  );
}

function fromServer(server: LocalServerFound, config: Config, request: SessionRequest): Choice {
  const model = config.model ?? server.models[0];
  if (model === undefined)
    throw new TurnwrightError('TW_CONFIG_VALUE', `${server.name} at ${server.baseUrl} has no model; load one first`);
  request.notice(
    `Using ${model} of ${server.name} at ${server.baseUrl} (model_provider = "${server.server}" makes this permanent).`,
  );
  return { model, provider: server.config };
}

async function findServer(request: SessionRequest): Promise<LocalServerFound> {
  const found = await discoverLocalServers({}, neverAborted());
  const usable = found.find((server) => server.models.length > 0) ?? found[0];
  if (usable) return usable;
  throw new TurnwrightError('TW_NO_PROVIDER', request.local ? NO_LOCAL_SERVER : NO_PROVIDER);
}

const NO_LOCAL_SERVER =
  'no local model server answers: start Ollama (port 11434), LM Studio (1234), llama.cpp (8080) or vLLM (8000), ' +
  'or describe another one under [model_providers.NAME] in config.toml';

const NO_PROVIDER = `no model to talk to. Choose one:
  - set OPENAI_API_KEY to use OpenAI
  - start a local server: Ollama (port 11434), LM Studio (1234), llama.cpp (8080) or vLLM (8000)
  - describe any other server in config.toml: model_provider = "NAME" and [model_providers.NAME] base_url, env_key, wire_api
  - see it work without any model: turnwright demo`;

function findProvider(config: Config, id: string): ProviderConfig {
  const options = config.openaiBaseUrl === undefined ? {} : { openaiBaseUrl: config.openaiBaseUrl };
  const found = config.providers.get(id) ?? builtInProvider(id, options);
  if (found) return found;
  const known = [...config.providers.keys(), ...BUILT_IN_PROVIDER_IDS];
  const nearest = nearestWord(id, known);
  const hint = nearest === undefined ? `known: ${known.join(', ')}` : `did you mean "${nearest}"?`;
  throw new TurnwrightError('TW_CONFIG_VALUE', `there is no model provider "${id}"; ${hint}`, {
    facts: { provider: id },
  });
}

function keyNames(config: Config): readonly string[] {
  return [...config.providers.values()].flatMap((provider) => provider.envKey ?? []);
}

function neverAborted(): AbortSignal {
  return new AbortController().signal;
}

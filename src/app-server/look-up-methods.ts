/** Methods that look something up without a thread: models, configuration, hooks. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import {
  type ConfigLayer,
  configuredHooks,
  type Handler,
  type LoadedConfig,
  loadSessionConfig,
  type OfferedModel,
  offeredModel,
} from '../engine/index.js';
import { invalid, optionalFlag, optionalList } from './params.js';
import type { Methods } from './server.js';
import type { Threads } from './threads.js';

export function lookUpMethods(threads: Threads): Methods {
  const load = async (cwd: string | undefined) => {
    const request = { ...threads.sessionRequest(cwd === undefined ? {} : { cwd }), notice: () => {} };
    return { request, loaded: await loadSessionConfig(request) };
  };
  return {
    /** Only what is known to be usable: the model that a new thread gets. */
    async 'model/list'() {
      const { request, loaded } = await load(undefined);
      return { data: [wireModel(await offeredModel(loaded, request), loaded)], nextCursor: null };
    },
    async 'config/read'(params) {
      const cwd = threads.sessionRequest({ cwd: params['cwd'] }).cwd;
      const { loaded } = await load(cwd);
      const origins = [...loaded.merged.origins].flatMap(([key, layer]) =>
        layerSource(layer) ? [[key, layerMetadata(layer)] as const] : [],
      );
      return {
        config: loaded.merged.table,
        origins: Object.fromEntries(origins),
        layers: optionalFlag(params, 'includeLayers') ? loaded.layers.filter(layerSource).map(wireLayer) : null,
      };
    },
    async 'hooks/list'(params) {
      const folders = optionalList(params, 'cwds') ?? [];
      const bad = folders.findIndex((cwd) => typeof cwd !== 'string' || !path.isAbsolute(cwd));
      if (bad >= 0) throw invalid(`cwds[${bad}]`, 'an absolute path is needed');
      const cwds = folders.length > 0 ? (folders as readonly string[]) : [threads.io.cwd];
      return { data: await Promise.all(cwds.map(async (cwd) => hooksOf(cwd, (await load(cwd)).loaded))) };
    },
  };
}

function wireModel({ model, provider, capabilities }: OfferedModel, { config }: LoadedConfig): unknown {
  const efforts = capabilities.reasoning ? ['low', 'medium', 'high'] : [];
  return {
    id: model,
    model,
    displayName: model,
    description: `the configured model, from ${provider}`,
    hidden: false,
    isDefault: true,
    defaultReasoningEffort: config.reasoningEffort ?? (capabilities.reasoning ? 'medium' : 'none'),
    supportedReasoningEfforts: efforts.map((reasoningEffort) => ({ reasoningEffort, description: '' })),
    inputModalities: capabilities.images ? ['text', 'image'] : ['text'],
    upgrade: null,
  };
}

/** Undefined for a layer that the protocol has no name for: none of ours without a file but the flags. */
function layerSource({ name, path: file }: ConfigLayer): unknown {
  if (name === 'flags') return { type: 'sessionFlags' };
  if (file === undefined) return undefined;
  if (name === 'project') return { type: 'project', dotCodexFolder: path.dirname(file) };
  if (name === 'system') return { type: 'system', file };
  const profile = name === 'profile' ? path.basename(file).replace(/\.config\.toml$/, '') : null;
  return { type: 'user', file, profile };
}

/** Two reads with the same version saw the same values. */
function layerMetadata(layer: ConfigLayer) {
  const hash = createHash('sha256').update(JSON.stringify(layer.table)).digest('hex');
  return { name: layerSource(layer), version: `sha256:${hash}` };
}

function wireLayer(layer: ConfigLayer): unknown {
  return { ...layerMetadata(layer), config: layer.table, disabledReason: layer.disabledReason ?? null };
}

async function hooksOf(cwd: string, loaded: LoadedConfig): Promise<unknown> {
  try {
    const { handlers, warnings } = await configuredHooks(loaded);
    return { cwd, hooks: handlers.map((handler, i) => wireHook(handler, i, loaded)), warnings, errors: [] };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { cwd, hooks: [], warnings: [], errors: [{ path: cwd, message }] };
  }
}

function wireHook(handler: Handler, displayOrder: number, loaded: LoadedConfig): unknown {
  const { key, hash, event, matcher, command, timeoutMs, source, status } = handler;
  return {
    key,
    currentHash: hash,
    displayOrder,
    enabled: status !== 'disabled',
    eventName: event[0]!.toLowerCase() + event.slice(1),
    handlerType: 'command',
    command,
    async: handler.async,
    isManaged: status === 'managed',
    matcher: matcher === '' ? null : matcher,
    source: hookSource(source, loaded),
    sourcePath: source,
    statusMessage: null,
    timeoutSec: Math.ceil(timeoutMs / 1000),
    // A hook that is switched off is not judged.
    trustStatus: status === 'disabled' ? 'untrusted' : status,
  };
}

/** The layer whose folder holds the file. */
function hookSource(file: string, { layers, homes }: LoadedConfig): string {
  const folder = path.dirname(file);
  const layer = layers.find((one) => one.path !== undefined && path.dirname(one.path) === folder);
  if (layer?.name === 'flags') return 'sessionFlags';
  if (layer?.name === 'project' || layer?.name === 'system') return layer.name;
  if (layer || folder === homes.own || folder === homes.fallback) return 'user';
  return 'project';
}

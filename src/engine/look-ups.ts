/** What a session would use, for front-ends that show it without opening one. */
import type { LoadedConfig } from '../config/index.js';
import { type HookSet, readHooks } from '../hooks/index.js';
import { randomIds, systemClock } from '../lib/index.js';
import type { ModelCapabilities } from '../model/index.js';
import { chooseModel } from './choose-model.js';
import type { SessionRequest } from './session-config.js';
import { findHookSources, hookTrust } from './session-hooks.js';

export interface OfferedModel {
  readonly model: string;
  /** Id of its provider. */
  readonly provider: string;
  readonly capabilities: ModelCapabilities;
}

/** The model a new thread gets. Throws what `openSession` throws for a model that cannot be had. */
export async function offeredModel(loaded: LoadedConfig, request: SessionRequest): Promise<OfferedModel> {
  const { model, provider } = await chooseModel(loaded.config, request, { clock: systemClock, ids: randomIds });
  return { model, provider: provider.id, capabilities: provider.capabilities(model) };
}

/** Every hook that configuration names, also those that do not run. Throws `TW_CONFIG_READ` or `TW_CONFIG_PARSE`. */
export async function configuredHooks(loaded: LoadedConfig): Promise<HookSet> {
  return readHooks(await findHookSources(loaded), hookTrust(loaded));
}

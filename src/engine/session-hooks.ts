/** The hooks of a session: found in every layer that counts, and only those a person has reviewed. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { findHomeFile, type LoadedConfig } from '../config/index.js';
import { type Handler, type HookSource, Hooks, type HookTrust, readHooks } from '../hooks/index.js';
import { TurnwrightError } from '../protocol/index.js';
import type { EngineOptions } from './create-engine.js';
import { hookPorts } from './hook-ports.js';
import type { SessionRequest } from './session-config.js';

export interface SessionHooks {
  /** Absent: no hook may run. */
  readonly open?: NonNullable<EngineOptions['hooks']>;
  /** Shown in every thread. */
  readonly warnings: readonly string[];
}

const BYPASSED =
  '`--dangerously-bypass-hook-trust` is enabled. Enabled hooks may run without review for this invocation.';

/** Throws `TW_CONFIG_READ` or `TW_CONFIG_PARSE` for a broken `hooks.json`. Skipped hooks are told through `notice`. */
export async function openSessionHooks(
  loaded: LoadedConfig,
  request: SessionRequest,
  shell: string,
): Promise<SessionHooks> {
  const { handlers, warnings } = readHooks(await findHookSources(loaded), hookTrust(loaded));
  for (const warning of warnings) request.notice(`warning: ${warning}`);
  const running = handlers.filter((handler) => mayRun(handler, request.bypassHookTrust === true));
  tellSkipped(handlers, running, await ownConfigFile(loaded), request);
  const shown = request.bypassHookTrust ? [BYPASSED] : [];
  if (running.length === 0 || loaded.config.features['hooks'] === false) return { warnings: shown };
  return {
    warnings: shown,
    open: ({ threadId, warn, nextId }) =>
      hookPorts(
        new Hooks(running, { sessionId: threadId, transcriptPath: null, env: { ...request.env }, shell }),
        warn,
        nextId,
      ),
  };
}

/** The file in use, else the one to create. */
async function ownConfigFile(loaded: LoadedConfig): Promise<string> {
  return (await findHomeFile(loaded.homes, 'config.toml')) ?? path.join(loaded.homes.own, 'config.toml');
}

function mayRun(handler: Handler, bypass: boolean): boolean {
  if (handler.status === 'disabled') return false;
  return bypass || handler.status === 'managed' || handler.status === 'trusted';
}

/** With what a person has to write into `file` to trust them. */
function tellSkipped(
  all: readonly Handler[],
  running: readonly Handler[],
  file: string,
  request: SessionRequest,
): void {
  const skipped = all.filter((handler) => handler.status !== 'disabled' && !running.includes(handler));
  if (skipped.length === 0) return;
  const names = skipped.map(
    ({ event, status, source, command }) => `  ${event} in ${source} (${status}): ${command.split('\n', 1)[0]}`,
  );
  const entries = skipped.map(({ key, hash }) => `  [hooks.state.${JSON.stringify(key)}]\n  trusted_hash = "${hash}"`);
  request.notice(
    [
      `warning: hooks that nobody has reviewed do not run:`,
      ...names,
      `read them; to let them run, add to ${file}:`,
      ...entries,
    ].join('\n'),
  );
}

/** Each layer's `[hooks]` table, and `hooks.json` in the same folder. */
export async function findHookSources(loaded: LoadedConfig): Promise<readonly HookSource[]> {
  const sources: HookSource[] = [];
  const files = new Set<string>();
  for (const layer of loaded.layers) {
    if (layer.disabledReason !== undefined || layer.path === undefined) continue;
    if (layer.table['hooks'] !== undefined) sources.push({ path: layer.path, hooks: layer.table['hooks'] });
    if (layer.name !== 'user') files.add(path.join(path.dirname(layer.path), 'hooks.json'));
  }
  const own = await findHomeFile(loaded.homes, 'hooks.json');
  if (own !== undefined) files.add(own);
  if (loaded.project.trust === 'trusted')
    for (const name of ['.turnwright', '.codex']) files.add(path.join(loaded.project.root, name, 'hooks.json'));
  for (const file of files) {
    const hooks = await readHooksFile(file);
    if (hooks !== undefined) sources.push({ path: file, hooks });
  }
  return sources;
}

async function readHooksFile(file: string): Promise<unknown> {
  try {
    return (JSON.parse(await readFile(file, 'utf8')) as { hooks?: unknown } | null)?.hooks;
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (code !== undefined) throw new TurnwrightError('TW_CONFIG_READ', `${file} cannot be read (${code})`, { cause });
    throw new TurnwrightError('TW_CONFIG_PARSE', `${file}: not valid JSON: ${(cause as Error).message}`, { cause });
  }
}

/** What a person decided stands in their own configuration; a project's word about its own hooks does not count. */
export function hookTrust(loaded: LoadedConfig): HookTrust {
  const trust: Record<string, HookTrust[string]> = {};
  for (const layer of loaded.layers.toReversed()) {
    const hooks = layer.name === 'project' ? undefined : (layer.table['hooks'] as { state?: unknown } | undefined);
    if (typeof hooks?.state === 'object') Object.assign(trust, hooks.state);
  }
  return trust;
}

/** From configuration to a running engine: what every front-end of this package opens. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { buildSandboxPolicy, type LoadedConfig, originOf } from '../config/index.js';
import type { ContextOptions } from '../context/index.js';
import { randomIds, systemClock, VERSION } from '../lib/index.js';
import type { ModelProvider } from '../model/index.js';
import { type ApprovalPolicy, type SandboxPolicy, type TurnSettings, TurnwrightError } from '../protocol/index.js';
import {
  type ClosableBackend,
  createPlainBackend,
  createSandboxBackend,
  type SandboxBackend,
} from '../sandbox/index.js';
import { createJsonlStore, createMemoryStore, type EventStore, rolloutPathOf } from '../store/index.js';
import { createMcpTools, type ExecToolOptions, findUserShell, type Shell } from '../tools/index.js';
import { type ChosenModel, chooseModel } from './choose-model.js';
import { createEngine } from './create-engine.js';
import type { Engine } from './port.js';
import type { SessionConfig, SessionRequest } from './session-config.js';
import { openSessionHooks } from './session-hooks.js';
import { openSessionPolicy, type SessionPolicy } from './session-policy.js';

/** How long a first request waits for MCP servers that are still starting; later ones see them. */
const MCP_PATIENCE_MS = 2_000;

export interface Session extends AsyncDisposable {
  readonly engine: Engine;
  /** For new threads, and for resumed ones that shall follow the configuration. */
  readonly settings: TurnSettings;
  /** Where threads are kept. */
  readonly home: string;
  /** The file of a thread, which exists once the thread has a turn; undefined for threads kept in memory. */
  threadFile(threadId: string): string | undefined;
}

/** Throws what `chooseModel`, `buildSandboxPolicy` and the readers of named files throw. */
export async function openSession(loaded: SessionConfig, request: SessionRequest): Promise<Session> {
  const machine = openBackend(loaded, request);
  const deps = { clock: systemClock, ids: randomIds };
  const shell = findUserShell(request.env);
  const policy = openSessionPolicy(loaded, request);
  const mcp = createMcpTools(loaded.config.mcpServers, { env: request.env, cwd: request.cwd, waitMs: MCP_PATIENCE_MS });
  const [chosen, hooks, context, sandbox] = await Promise.all([
    chooseModel(loaded.config, request, deps),
    openSessionHooks(loaded, request, request.env['SHELL'] || '/bin/sh'),
    contextOptions(loaded, shell),
    sandboxFor(loaded, request),
  ]);
  const settings: TurnSettings = {
    ...modelSettings(loaded, chosen),
    cwd: request.cwd,
    approvalPolicy: approvalFor(loaded, request),
    sandbox,
    steerDelivery: loaded.config.steerDelivery,
    budget: loaded.config.budget,
    policyFingerprint: policy.fingerprint(),
  };
  const warm = async () => {
    await policy.commands.warm();
    if (isConfined(sandbox)) await machine.warm();
  };
  let warming: NodeJS.Timeout | undefined;
  const main = onFirstSample(chosen.provider, () => {
    warming = setTimeout(() => warm().catch(() => {}), WARM_DELAY_MS).unref(); // the first command shows the failure
  });
  const engine = createEngine({
    store: openStore(loaded, request),
    provider: ({ provider }) => (provider === main.id ? main : chosen.other(provider)),
    backend: machine,
    configHomes: configHomes(loaded),
    exec: execOptions(loaded, request, chosen, shell, policy),
    policyFingerprint: policy.fingerprint,
    learnAmendment: policy.learn,
    extraTools: request.extraTools ?? [],
    moreTools: () => mcp.tools(),
    moreWarnings: () => mcp.warnings(),
    context,
    interactive: request.interactive,
    updatePlan: loaded.config.updatePlan,
    webSearch: loaded.config.webSearch,
    warnings: hooks.warnings,
    ...(hooks.open ? { hooks: hooks.open } : {}),
    ...deps,
  });
  return {
    engine,
    settings,
    home: loaded.homes.own,
    threadFile: (id) => (request.ephemeral ? undefined : rolloutPathOf(loaded.homes.own, id, deps.clock.nowMs())),
    async [Symbol.asyncDispose]() {
      clearTimeout(warming);
      await engine[Symbol.asyncDispose]();
      await mcp[Symbol.asyncDispose]();
      await machine.close();
    },
  };
}

function configHomes({ homes }: LoadedConfig): readonly string[] {
  return [homes.own, ...(homes.fallback === undefined ? [] : [homes.fallback])];
}

interface LateBackend extends ClosableBackend {
  /** Opens it, if it can be; `spawn` shows the failure. */
  warm(): Promise<void>;
}

/** What the first command needs is made ready while the model thinks; the request has a moment's lead. */
const WARM_DELAY_MS = 30;

/**
 * Looking at what the machine can enforce takes longer than preparing the first request. So it waits until that request
 * is on its way, and never happens in a session that confines nothing.
 */
function openBackend(loaded: LoadedConfig, request: SessionRequest): LateBackend {
  const homes = configHomes(loaded);
  let opening: Promise<ClosableBackend> | undefined;
  let known: ClosableBackend | undefined;
  const plain = createPlainBackend();
  const open = async (): Promise<ClosableBackend> => {
    opening ??= createSandboxBackend({
      configHomes: homes,
      // A `bwrap` that the workspace offers is never run.
      distrusted: [request.cwd, ...(request.addDirs ?? [])],
      searchPath: `${request.env['PATH'] ?? ''}${path.delimiter}${toolsFolder(request.env)}`,
      onNotice: (text) => request.notice(`warning: ${text}`),
    });
    known = await opening;
    return known;
  };
  const spawn: SandboxBackend['spawn'] = async (argv, options, signal) => {
    const backend = isConfined(options.policy) ? (known ?? (await open())) : plain;
    return await backend.spawn(argv, options, signal);
  };
  return {
    get name() {
      return known?.name ?? 'sandbox';
    },
    spawn,
    async warm() {
      await open().catch(() => {});
    },
    async close() {
      await (await opening)?.close();
    },
  };
}

function isConfined({ mode }: SandboxPolicy): boolean {
  return mode !== 'danger-full-access' && mode !== 'external';
}

/** The same provider, which also tells when its first request goes out. */
function onFirstSample(provider: ModelProvider, tell: () => void): ModelProvider {
  let told = false;
  return {
    id: provider.id,
    streamMaxRetries: provider.streamMaxRetries,
    capabilities: (model) => provider.capabilities(model),
    warmUp: () => provider.warmUp?.(),
    sample(request, signal) {
      if (!told) tell();
      told = true;
      return provider.sample(request, signal);
    },
  };
}

/** Where `scripts/setup.sh` unpacks bubblewrap for a user who cannot install it. */
function toolsFolder(env: SessionRequest['env']): string {
  const cache = env['XDG_CACHE_HOME'] || path.join(env['HOME'] ?? '/', '.cache');
  return path.join(cache, 'turnwright/tools/usr/bin');
}

function openStore(loaded: LoadedConfig, request: SessionRequest): EventStore {
  if (request.ephemeral) return createMemoryStore(systemClock);
  return createJsonlStore({
    home: loaded.homes.own,
    clock: systemClock,
    durability: loaded.config.durability,
    warn: (text) => request.notice(`warning: ${text}`),
  });
}

async function sandboxFor(loaded: LoadedConfig, request: SessionRequest): Promise<TurnSettings['sandbox']> {
  const { policy, warnings } = await buildSandboxPolicy(loaded.config, {
    cwd: request.cwd,
    home: request.env['HOME'] ?? '/',
    defaultMode: request.defaultSandbox,
    addDirs: request.addDirs ?? [],
  });
  for (const warning of warnings) request.notice(`warning: ${warning}`);
  return policy;
}

/**
 * Where nobody can answer, a policy that asks only helps whoever asked for it in this very call; one from a file is
 * meant for sessions with a person (Codex 0.171: `exec` forces `never` unless told otherwise).
 */
function approvalFor(loaded: LoadedConfig, request: SessionRequest): ApprovalPolicy {
  const policy = loaded.config.approvalPolicy ?? 'on-request';
  if (request.interactive) return policy;
  const origin = originOf(loaded.merged, ['approval_policy']);
  return origin?.name === 'flags' ? policy : 'never';
}

function modelSettings(loaded: LoadedConfig, chosen: ChosenModel) {
  const { reasoningEffort, reasoningSummary, verbosity } = loaded.config;
  return {
    model: chosen.model,
    provider: chosen.provider.id,
    ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
    ...(reasoningSummary === undefined ? {} : { reasoningSummary }),
    ...(verbosity === undefined ? {} : { verbosity }),
  };
}

function execOptions(
  loaded: LoadedConfig,
  request: SessionRequest,
  chosen: ChosenModel,
  shell: Shell,
  policy: SessionPolicy,
): ExecToolOptions {
  const { config } = loaded;
  return {
    shell,
    policy: policy.commands,
    ...(request.interactive ? { summarize: policy.summarize } : {}),
    envPolicy: config.shellEnvironment,
    providerKeyNames: chosen.keyNames,
    allowLoginShell: config.allowLoginShell,
    baseEnv: request.env,
    version: VERSION,
    backgroundMaxTimeoutMs: config.backgroundTerminalMaxTimeoutMs,
    ...(config.toolOutputTokenLimit === undefined ? {} : { maxOutputTokens: config.toolOutputTokenLimit }),
  };
}

async function contextOptions(loaded: LoadedConfig, shell: Shell): Promise<ContextOptions> {
  const { config, homes } = loaded;
  const instructions = await readInstructions(loaded);
  return {
    ...(instructions === undefined ? {} : { instructions }),
    ...(config.developerInstructions === undefined ? {} : { developerInstructions: config.developerInstructions }),
    shell: shell.name,
    agentsMd: {
      userFolders: [homes.own, ...(homes.fallback === undefined ? [] : [homes.fallback])],
      rootMarkers: config.projectRootMarkers,
      fallbackNames: config.projectDocFallbackFilenames,
      maxBytes: config.projectDocMaxBytes,
    },
  };
}

/** A relative path starts at the folder of the file that names it. */
async function readInstructions(loaded: LoadedConfig): Promise<string | undefined> {
  const named = loaded.config.modelInstructionsFile;
  if (named === undefined) return undefined;
  const origin = originOf(loaded.merged, ['model_instructions_file'])?.path;
  const file = path.resolve(origin === undefined ? '.' : path.dirname(origin), named);
  return readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new TurnwrightError('TW_CONFIG_READ', `model_instructions_file ${file} cannot be read (${cause.code})`, {
      facts: { file },
      cause,
    });
  });
}

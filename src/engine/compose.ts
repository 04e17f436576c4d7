/** From configuration to a running engine: what every front-end of this package opens. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { buildSandboxPolicy, type LoadedConfig, originOf } from '../config/index.js';
import type { ContextOptions } from '../context/index.js';
import { randomIds, systemClock, VERSION } from '../lib/index.js';
import { type ApprovalPolicy, type TurnSettings, TurnwrightError } from '../protocol/index.js';
import { type ClosableBackend, createSandboxBackend, type SandboxBackend } from '../sandbox/index.js';
import { createJsonlStore, createMemoryStore, type EventStore } from '../store/index.js';
import { type ExecToolOptions, findUserShell, type Shell } from '../tools/index.js';
import { type ChosenModel, chooseModel } from './choose-model.js';
import { createEngine } from './create-engine.js';
import type { Engine } from './port.js';
import type { SessionConfig, SessionRequest } from './session-config.js';
import { openSessionHooks } from './session-hooks.js';

export interface Session extends AsyncDisposable {
  readonly engine: Engine;
  /** For new threads, and for resumed ones that shall follow the configuration. */
  readonly settings: TurnSettings;
  /** Where threads are kept. */
  readonly home: string;
}

/** Throws what `chooseModel`, `buildSandboxPolicy` and the readers of named files throw. */
export async function openSession(loaded: SessionConfig, request: SessionRequest): Promise<Session> {
  const machine = openBackend(loaded, request);
  const deps = { clock: systemClock, ids: randomIds };
  const shell = findUserShell(request.env);
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
    policyFingerprint: '',
  };
  const engine = createEngine({
    store: openStore(loaded, request),
    provider: ({ provider }) => (provider === chosen.provider.id ? chosen.provider : chosen.other(provider)),
    backend: machine,
    exec: execOptions(loaded, request, chosen, shell),
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
    async [Symbol.asyncDispose]() {
      await engine[Symbol.asyncDispose]();
      await machine.close();
    },
  };
}

/** Probing the machine takes longer than the first request, so it runs beside it. */
function openBackend(loaded: LoadedConfig, request: SessionRequest): ClosableBackend {
  const homes = [loaded.homes.own, ...(loaded.homes.fallback === undefined ? [] : [loaded.homes.fallback])];
  let known: ClosableBackend | undefined;
  const opening = createSandboxBackend({ configHomes: homes, onNotice: (text) => request.notice(`warning: ${text}`) });
  opening.then(
    (backend) => {
      known = backend;
    },
    () => {}, // `spawn` shows it
  );
  const spawn: SandboxBackend['spawn'] = async (argv, options, signal) =>
    (known ?? (await opening)).spawn(argv, options, signal);
  return {
    get name() {
      return known?.name ?? 'sandbox';
    },
    spawn,
    close: async () => (await opening).close(),
  };
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
): ExecToolOptions {
  const { config } = loaded;
  return {
    shell,
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

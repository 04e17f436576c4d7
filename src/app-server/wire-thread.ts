/** Threads as the protocol shows them. Pure. */
import { type ThreadStatus, type ThreadSummary, VERSION } from '../engine/index.js';
import type { TurnSettings } from '../protocol/index.js';
import type { WireTurn } from './thread-history.js';

export interface ThreadFacts {
  readonly id: string;
  readonly settings: Pick<TurnSettings, 'cwd' | 'model' | 'provider' | 'reasoningEffort'>;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly preview: string;
  readonly name: string | undefined;
  /** Undefined: kept in memory only. */
  readonly path: string | undefined;
  /** Who started it, in our words. */
  readonly source: string;
  readonly version: string;
  readonly status: ThreadStatus | undefined;
  readonly turns?: readonly WireTurn[];
}

export function wireThread(facts: ThreadFacts): Readonly<Record<string, unknown>> {
  const { settings } = facts;
  return {
    id: facts.id,
    sessionId: facts.id,
    preview: facts.preview,
    name: facts.name ?? null,
    cwd: settings.cwd,
    model: settings.model,
    modelProvider: settings.provider,
    reasoningEffort: settings.reasoningEffort ?? null,
    createdAt: seconds(facts.createdAtMs),
    updatedAt: seconds(facts.updatedAtMs),
    recencyAt: seconds(facts.updatedAtMs),
    status: wireStatus(facts.status),
    path: facts.path ?? null,
    cliVersion: facts.version,
    source: wireSource(facts.source),
    gitInfo: null,
    ephemeral: facts.path === undefined,
    forkedFromId: null,
    projectId: null,
    turns: facts.turns ?? [],
  };
}

/** `status` is set for a thread that is loaded. */
export function factsOfSummary(summary: ThreadSummary, status: ThreadStatus | undefined): ThreadFacts {
  const { threadId, settings, createdAtMs, updatedAtMs, preview, name, path } = summary;
  const { turn, source, version } = settings;
  return {
    id: threadId,
    settings: turn,
    createdAtMs,
    updatedAtMs,
    preview,
    name,
    path,
    source,
    version: version || VERSION,
    status,
  };
}

/** Unix time in whole seconds. */
function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}

/** Undefined: the thread is not loaded. */
export function wireStatus(status: ThreadStatus | undefined): unknown {
  if (status === undefined) return { type: 'notLoaded' };
  if (status.kind === 'idle') return { type: 'idle' };
  const flags = { approval: 'waitingOnApproval', userInput: 'waitingOnUserInput' } as const;
  return { type: 'active', activeFlags: status.waitingOn.map((one) => flags[one]) };
}

/** The kind of program that started the thread. */
export function sourceKind(source: string): string {
  if (source === 'app-server') return 'appServer';
  return source === 'exec' || source === 'cli' ? source : 'unknown';
}

function wireSource(source: string): unknown {
  const kind = sourceKind(source);
  return kind === 'unknown' ? { custom: source } : kind;
}

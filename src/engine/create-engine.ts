/** `createEngine`: wires the ports. Everything a host may replace is an option here, and nothing else is a plugin system. */
import { type ContextOptions, type PreparedContext, prepareContext } from '../context/index.js';
import { type Clock, type Ids, randomIds, systemClock } from '../lib/index.js';
import type { ModelProvider } from '../model/index.js';
import type { Tool } from '../orchestrator/index.js';
import { type Amendment, type ThreadSettings, type TurnSettings, TurnwrightError } from '../protocol/index.js';
import type { SandboxBackend } from '../sandbox/index.js';
import type { EventStore } from '../store/index.js';
import { closeCrash, LiveThread, type ThreadServices, WaitingTable } from '../thread/index.js';
import type { ExecToolOptions } from '../tools/index.js';
import { ThreadLog } from '../turn/index.js';
import type { HookPorts } from './hook-ports.js';
import type { Engine, ResumeOptions, StartOptions } from './port.js';
import { createToolset } from './toolset.js';
import { VERSION } from './version.js';

export interface EngineOptions {
  readonly store: EventStore;
  /** The provider for a turn. Called once per turn and once per tool list; return the same object for the same settings. */
  provider(settings: TurnSettings): ModelProvider;
  readonly backend: SandboxBackend;
  /** Absolute: folders that hold rules and configuration. No confined tool writes there, wherever they lie. */
  readonly configHomes?: readonly string[];
  readonly exec: ExecToolOptions;
  readonly context: ContextOptions;
  /** Somebody subscribes and answers approvals and questions. False: what would ask is refused, and says why. */
  readonly interactive: boolean;
  readonly updatePlan?: boolean;
  readonly webSearch?: 'disabled' | 'cached' | 'live';
  readonly extraTools?: readonly Tool[];
  /** Tools that come and go (MCP servers). Asked before each turn, and when the model calls one that is not known yet. */
  moreTools?(): Promise<readonly Tool[]>;
  /** Warnings that came up since, such as a server that did not start. Each is shown once. */
  moreWarnings?(): readonly string[];
  /** Changes when any rule in force changes; part of every turn's settings. */
  policyFingerprint?(): string;
  /** Hooks of one thread. Called when the thread is opened. */
  hooks?(thread: { threadId: string; warn: (message: string) => void; nextId: () => string }): HookPorts;
  /** Shown once in each thread, before its first turn. */
  readonly warnings?: readonly string[];
  learnAmendment?(amendment: Amendment): Promise<void>;
  /** Consecutive stop-hook continuations without a tool call between them. Default 5. */
  readonly maxStopContinuations?: number;
  readonly clock?: Clock;
  readonly ids?: Ids;
  random?(): number;
}

export function createEngine(options: EngineOptions): Engine {
  const clock = options.clock ?? systemClock;
  const ids = options.ids ?? randomIds;
  const threads = new Map<string, LiveThread>();

  async function open(
    log: ThreadLog,
    settings: TurnSettings,
    { start, damage = [] }: { start?: ThreadSettings; damage?: readonly string[] },
  ): Promise<LiveThread> {
    const waiting = new WaitingTable((record) => log.append(record));
    const warned = new Set<string>();
    const warn = (message: string) => void log.append({ type: 'warning', message }).catch(() => {}); // a warning is not worth a turn
    const hooks = options.hooks?.({ threadId: log.threadId, warn, nextId: () => ids.next('msg') });
    const session = { fresh: true, source: start ? ('startup' as const) : ('resume' as const) };
    const services: ThreadServices = {
      log,
      clock,
      ids,
      random: options.random ?? Math.random,
      provider: options.provider,
      ...(options.policyFingerprint ? { policyFingerprint: options.policyFingerprint } : {}),
      prepare: (next) => prepare({ options, log, clock, warned, hooks, session, damage }, next),
      tools: createToolset(options, log, waiting, { clock, ids }, hooks),
      maxStopContinuations: options.maxStopContinuations ?? 5,
      close: async () => {
        threads.delete(log.threadId);
        await options.store.close(log.threadId);
      },
      ...(hooks ? { stopHooks: hooks.stopHooks, promptHooks: hooks.promptHooks } : {}),
    };
    const thread = new LiveThread(services, waiting, settings, start);
    threads.set(thread.id, thread);
    return thread;
  }

  return {
    start({ settings, source, threadId = ids.next('thread') }: StartOptions) {
      const start = { threadId, version: VERSION, turn: settings, source };
      return open(new ThreadLog(threadId, options.store), settings, { start });
    },
    async resume(threadId: string, { settings, continueTurn = false }: ResumeOptions = {}) {
      const live = threads.get(threadId);
      if (live) return live;
      const log = await loadLog(threadId, options.store);
      const damage = await closeCrash(log, ids, continueTurn);
      const thread = await open(log, { ...lastSettings(log), ...settings }, { damage });
      if (continueTurn) thread.continueTurn();
      return thread;
    },
    async fork(threadId: string, atSeq: number) {
      const log = await copyPrefix(threadId, atSeq, ids.next('thread'), options.store);
      const damage = await closeCrash(log, ids, false);
      return open(log, lastSettings(log), { damage });
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...threads.values()].map((thread) => thread[Symbol.asyncDispose]()));
    },
  };
}

interface Preparing {
  readonly options: EngineOptions;
  readonly log: ThreadLog;
  readonly clock: Clock;
  /** Warnings that were shown already. */
  readonly warned: Set<string>;
  readonly hooks: HookPorts | undefined;
  readonly session: { fresh: boolean; readonly source: 'startup' | 'resume' };
  /** What loading the thread found wrong. */
  readonly damage: readonly string[];
}

/** Context messages for the next turn, session-start hooks before the first, and warnings that were not shown yet. */
async function prepare(
  { options, log, clock, warned, hooks, session, damage }: Preparing,
  settings: TurnSettings,
): Promise<PreparedContext> {
  const context = await prepareContext(log.state.history, settings, options.context, clock.nowMs());
  const started = session.fresh ? await hooks?.sessionStart(session.source, settings) : undefined;
  session.fresh = false;
  const hooked = (started ?? []).map((text) => ({ role: 'developer', kind: 'hookContext', text }) as const);
  const known = options.provider(settings).capabilities(settings.model).known;
  const unknown = known
    ? []
    : [`model metadata for \`${settings.model}\` not found; using cautious defaults, which can make it work worse`];
  const warnings = [
    ...damage,
    ...(options.warnings ?? []),
    ...(options.moreWarnings?.() ?? []),
    ...unknown,
    ...context.warnings,
  ].filter((warning) => !warned.has(warning));
  for (const warning of warnings) warned.add(warning);
  return { messages: [...context.messages, ...hooked], warnings };
}

async function loadLog(threadId: string, store: EventStore): Promise<ThreadLog> {
  const log = new ThreadLog(threadId, store);
  for await (const stored of store.load(threadId)) log.restore(stored);
  return log;
}

async function copyPrefix(threadId: string, atSeq: number, forkId: string, store: EventStore): Promise<ThreadLog> {
  const log = new ThreadLog(forkId, store);
  for await (const { seq, record } of store.load(threadId)) {
    if (seq > atSeq) break;
    await log.append(
      record.type === 'thread.started' ? { ...record, settings: { ...record.settings, threadId: forkId } } : record,
    );
  }
  return log;
}

function lastSettings(log: ThreadLog): TurnSettings {
  const settings = log.state.lastSettings;
  if (!settings)
    throw new TurnwrightError(
      'TW_THREAD_CORRUPT',
      `thread ${log.threadId} has no settings: its file does not begin with thread.started`,
    );
  return settings;
}

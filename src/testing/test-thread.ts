/** A thread with everything real but the model, the clock, the ids and the tools it is given. */
import { ApprovalCache } from '../approvals/index.js';
import { GroupLock } from '../lib/index.js';
import type { Tool } from '../orchestrator/index.js';
import type { ReviewDecision, ThreadRecord, TurnSettings, UserInput } from '../protocol/index.js';
import { createMemoryStore, type EventStore } from '../store/index.js';
import { closeCrash, LiveThread, type ThreadServices, WaitingTable } from '../thread/index.js';
import { dispatch, ToolRegistry } from '../tools/index.js';
import { type StopHooks, ThreadLog } from '../turn/index.js';
import { countedIds } from './counted-ids.js';
import { fakeSandbox } from './fake-sandbox.js';
import { ManualClock } from './manual-clock.js';
import type { ScriptedModel } from './scripted-model.js';
import { testSettings } from './settings.js';

export interface TestThreadOptions {
  readonly model: ScriptedModel;
  readonly tools?: readonly Tool[];
  readonly settings?: Partial<TurnSettings>;
  readonly store?: EventStore;
  readonly clock?: ManualClock;
  readonly threadId?: string;
  /** Answers approvals in order; absent: the test answers through `thread.answer`. */
  readonly answers?: readonly ReviewDecision[];
  readonly stopHooks?: StopHooks;
  /** Loads the thread from the store instead of starting it; `continue` goes on with a cut turn. */
  readonly resume?: 'close' | 'continue';
}

export interface TestThread {
  readonly thread: LiveThread;
  readonly log: ThreadLog;
  readonly clock: ManualClock;
  readonly store: EventStore;
  /** All records so far, in order. */
  records(): Promise<readonly ThreadRecord[]>;
}

export async function startTestThread(options: TestThreadOptions): Promise<TestThread> {
  const store = options.store ?? createMemoryStore();
  const clock = options.clock ?? new ManualClock();
  const ids = options.resume ? prefixedIds('r') : countedIds();
  const threadId = options.threadId ?? 'thread_1';
  const log = new ThreadLog(threadId, store);
  const settings = testSettings('/w', options.settings);
  if (options.resume) {
    for await (const stored of store.load(threadId)) log.restore(stored);
    await closeCrash(log, ids, options.resume === 'continue');
  }
  const waiting = new WaitingTable((record) => log.append(record));
  const services = threadServices(options, { log, clock, ids, waiting, store });
  const start = { threadId, version: 'test', turn: settings, source: 'test' };
  const thread = new LiveThread(services, waiting, settings, options.resume ? undefined : start);
  if (options.answers) void answerInOrder(thread, options.answers); // ends with the thread
  if (options.resume === 'continue') thread.continueTurn();
  return { thread, log, clock, store, records: () => recordsOf(store, threadId) };
}

interface Parts {
  readonly log: ThreadLog;
  readonly clock: ManualClock;
  readonly ids: ThreadServices['ids'];
  readonly waiting: WaitingTable;
  readonly store: EventStore;
}

function threadServices(options: TestThreadOptions, parts: Parts): ThreadServices {
  const { log, clock, ids, waiting, store } = parts;
  const registry = new ToolRegistry(options.tools ?? []);
  const gate = new GroupLock();
  const approvals = { cache: new ApprovalCache(), asker: { ask: waiting.askApproval.bind(waiting) } };
  return {
    log,
    clock,
    ids,
    random: () => 0.5,
    provider: () => options.model,
    prepare: async () => ({ messages: [], warnings: [] }),
    maxStopContinuations: 5,
    close: () => store.close(log.threadId),
    ...(options.stopHooks ? { stopHooks: options.stopHooks } : {}),
    tools: {
      specs: () => registry.specs(options.model.capabilities('scripted')),
      dispose: async () => {},
      runCall: (settings, turnId, cancelTurn) => (call, signal) => {
        const context = {
          threadId: log.threadId,
          turnId,
          callId: call.callId,
          tool: call.tool,
          payloadKind: call.payload.kind,
          settings,
          emit: log.emit.bind(log),
          record: (record: ThreadRecord) => log.append(record),
        };
        const orchestrator = { backend: fakeSandbox(), approvals, ids, cancelTurn };
        return dispatch(call, context, { registry, gate, orchestrator, customTools: true }, signal);
      },
    },
  };
}

/** Ids that cannot collide with those of the run before. */
function prefixedIds(prefix: string): ThreadServices['ids'] {
  const ids = countedIds();
  return { next: (kind) => `${prefix}${ids.next(kind)}`, chunk: ids.chunk };
}

async function answerInOrder(thread: LiveThread, answers: readonly ReviewDecision[]): Promise<void> {
  const left = [...answers];
  for await (const event of thread.events()) {
    if (event.kind !== 'record' || event.stored.record.type !== 'approval.asked') continue;
    const decision = left.shift();
    if (decision) thread.answer(event.stored.record.request.approvalId, decision);
  }
}

async function recordsOf(store: EventStore, threadId: string): Promise<readonly ThreadRecord[]> {
  const records: ThreadRecord[] = [];
  for await (const stored of store.load(threadId)) records.push(stored.record);
  return records;
}

export function text(value: string): UserInput[] {
  return [{ type: 'text', text: value }];
}

/** The tools of one thread, wired: registry, sharing gate, orchestrator, process table. */
import { ApprovalCache, type ApprovalServices } from '../approvals/index.js';
import { type Clock, GroupLock, type Ids } from '../lib/index.js';
import type { CallContext, Tool } from '../orchestrator/index.js';
import { ProcessTable } from '../process/index.js';
import type { ToolCallItem, TurnSettings } from '../protocol/index.js';
import type { ThreadServices, WaitingTable } from '../thread/index.js';
import {
  createApplyPatchTool,
  createExecTools,
  createUserInputTool,
  dispatch,
  execAliases,
  flatName,
  interceptApplyPatch,
  planTool,
  ToolRegistry,
  viewImageTool,
  webSearchSpec,
} from '../tools/index.js';
import type { ThreadLog } from '../turn/index.js';
import type { EngineOptions } from './create-engine.js';
import type { HookPorts } from './hook-ports.js';
import { TurnDiffs } from './turn-diffs.js';

export function createToolset(
  options: EngineOptions,
  log: ThreadLog,
  waiting: WaitingTable,
  time: { clock: Clock; ids: Ids },
  hooks: HookPorts | undefined,
): ThreadServices['tools'] {
  const processes = new ProcessTable();
  const diffs = new TurnDiffs();
  const registry = createRegistry(options, processes, waiting, time, diffs);
  const gate = new GroupLock();
  const refresh = async () => {
    if (options.moreTools) registry.setMore(await options.moreTools());
  };
  const approvals = approvalServices(options, waiting, hooks);
  return {
    specs: (settings) => registry.specs(options.provider(settings).capabilities(settings.model)),
    refresh,
    runCall: (settings, turnId, cancelTurn) => async (call, signal) => {
      // A server that was not up for the request may be by now. Known tools must not wait: calls take the gate in order.
      if (options.moreTools && !registry.find(flatName(call), call.payload)) await refresh();
      const orchestrator = { backend: options.backend, approvals, ids: time.ids, cancelTurn };
      const { customTools } = options.provider(settings).capabilities(settings.model);
      const services = { registry, gate, orchestrator, customTools, ...(hooks ? { hooks: hooks.toolHooks } : {}) };
      const result = await dispatch(call, callContext(call, turnId, settings, log), services, signal);
      const diff = result.outcome.report?.type === 'fileChange' ? await diffs.diff(turnId) : undefined;
      if (diff !== undefined) log.emit({ type: 'turn.diff', diff });
      return result;
    },
    dispose: () => processes[Symbol.asyncDispose](),
  };
}

function createRegistry(
  options: EngineOptions,
  processes: ProcessTable,
  waiting: WaitingTable,
  time: { clock: Clock; ids: Ids },
  diffs: TurnDiffs,
): ToolRegistry {
  const asker = options.interactive ? { ask: waiting.askQuestions.bind(waiting) } : undefined;
  const tools = [
    ...createExecTools({ ...options.exec, ...time, processes, interceptPatch: interceptApplyPatch }),
    createApplyPatchTool({
      tracker: ({ turnId, settings }) => diffs.of(turnId, settings.cwd),
      closed: options.configHomes ?? [],
    }),
    ...(options.updatePlan === false ? [] : [planTool]),
    viewImageTool,
    createUserInputTool(asker),
    ...(options.extraTools ?? []),
  ];
  const hosted = options.webSearch && options.webSearch !== 'disabled' ? [webSearchSpec(options.webSearch)] : [];
  return new ToolRegistry(tools as readonly Tool[], { aliases: execAliases, hosted });
}

function approvalServices(
  options: EngineOptions,
  waiting: WaitingTable,
  hooks: HookPorts | undefined,
): ApprovalServices {
  return {
    cache: new ApprovalCache(),
    ...(options.interactive ? { asker: { ask: waiting.askApproval.bind(waiting) } } : {}),
    ...(hooks ? { hook: hooks.permissionHook } : {}),
    ...(options.learnAmendment ? { learn: options.learnAmendment } : {}),
  };
}

function callContext(call: ToolCallItem, turnId: string, settings: TurnSettings, log: ThreadLog): CallContext {
  return {
    threadId: log.threadId,
    turnId,
    callId: call.callId,
    tool: call.tool,
    payloadKind: call.payload.kind,
    settings,
    emit: (delta) => log.emit(delta),
    record: (record) => log.append(record),
  };
}

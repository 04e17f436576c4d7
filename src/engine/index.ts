export type { ConfigLayer, LoadedConfig } from '../config/index.js';
export { nearestWord } from '../config/index.js';
export type { Handler } from '../hooks/index.js';
export type {
  ModelCapabilities,
  ModelEvent,
  ModelProvider,
  ModelRequest,
  ProviderConfig,
  ProviderDeps,
  RecordedRequest,
  Script,
  ScriptEvent,
  ScriptedOptions,
  ScriptedProvider,
  ScriptServer,
  ScriptStep,
  ToolSpec,
} from '../model/index.js';
export {
  builtInProvider,
  createProvider,
  createScriptedProvider,
  discoverLocalServers,
  loadScript,
  parseScript,
  serveScript,
} from '../model/index.js';
export type { Attempt, CallContext, SandboxDenial, Tool } from '../orchestrator/index.js';
export { ArgumentError } from '../orchestrator/index.js';
export type {
  Amendment,
  ApprovalPolicy,
  ApprovalRequest,
  Delta,
  ErrorCode,
  Item,
  ModelFailure,
  Requirement,
  ReviewDecision,
  SandboxPolicy,
  Stored,
  ThreadEvent,
  ThreadRecord,
  ToolOutcome,
  TurnSettings,
  TurnStatus,
  Usage,
  UserInput,
  UserQuestion,
} from '../protocol/index.js';
export { TurnwrightError } from '../protocol/index.js';
export type { EventStore, JsonlStoreOptions } from '../store/index.js';
export {
  createJsonlStore,
  createMemoryStore,
  findThread,
  listThreads,
  nameThread,
  type ThreadSummary,
} from '../store/index.js';
export type { Admission, ClientContext, SubmitOptions, Thread, ThreadStatus } from '../thread/index.js';
export { openSession, type Session } from './compose.js';
export type { EngineOptions } from './create-engine.js';
export { createEngine } from './create-engine.js';
export { createSession, type ProgramSession, type SessionOptions } from './create-session.js';
export { defineTool, type ToolArguments, type ToolDefinition } from './define-tool.js';
export { configuredHooks, type OfferedModel, offeredModel } from './look-ups.js';
export { runApplyPatch } from './patch-command.js';
export type { Engine, ResumeOptions, StartOptions } from './port.js';
export { runTurn, type TurnResult } from './run-turn.js';
export { loadSandboxPolicy, resolveHome, type SandboxPolicyRequest } from './sandbox-config.js';
export { loadSessionConfig, type SessionConfig, type SessionRequest } from './session-config.js';
export { VERSION } from './version.js';

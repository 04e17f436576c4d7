export type { Amendment, ApprovalRequest, Requirement, ReviewDecision, UserQuestion } from './approvals.js';
export type { ErrorCode } from './errors.js';
export { assertNever, ERROR_CODES, Interrupted, TurnwrightError } from './errors.js';
export type {
  CommandAction,
  ContextKind,
  Decision,
  FileChange,
  Item,
  ItemBody,
  ItemOf,
  OutputContent,
  PlanStep,
  Refuser,
  SandboxDenialFacts,
  ToolCallItem,
  ToolOutcome,
  ToolOutputItem,
  ToolPayload,
  ToolReport,
  ToolView,
  UserInput,
} from './items.js';
export type {
  Delta,
  FailureKind,
  ModelFailure,
  SamplingResult,
  Stored,
  ThreadEvent,
  ThreadRecord,
  TurnKind,
  TurnStatus,
} from './records.js';
export type {
  ApprovalPolicy,
  Budget,
  GranularApproval,
  NetworkPolicy,
  SandboxMode,
  SandboxPolicy,
  SteerDelivery,
  ThreadSettings,
  TurnSettings,
  Usage,
} from './settings.js';
export { addUsage, NO_USAGE } from './settings.js';

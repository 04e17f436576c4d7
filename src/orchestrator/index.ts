export type { Escalation, EscalationFacts } from './decide-escalation.js';
export { asksToLeaveSandbox, decideEscalation } from './decide-escalation.js';
export type { OrchestratorServices } from './run-call.js';
export { runCall } from './run-call.js';
export type { Attempt, CallContext, EscalationTraits, SandboxDenial, Tool } from './tool.js';
export { ArgumentError, FatalToolError, RedirectedCall } from './tool.js';

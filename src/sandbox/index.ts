export type { SandboxBackend, SandboxedProcess } from './backend.js';
export { type Box, type BoxPolicy, type BoxRun, createSandbox } from './box.js';
export {
  type ClosableBackend,
  createPlainBackend,
  createSandboxBackend,
  type SandboxBackendOptions,
} from './create.js';
export { type DenialQuestion, detectDenial } from './denial.js';
export { describePlan, type PlanDescription } from './describe.js';
export { type DoctorReport, examine, type Finding } from './doctor.js';
export { type InheritedRun, runInherited } from './launcher.js';
export { type Machine, openMachine } from './machine.js';
export type { AuditRecord, NetworkAnswer, NetworkAsker, NetworkQuestion } from './network/gate.js';
export { parsePolicyFile } from './policy-file.js';

export type { SandboxBackend } from './backend.js';
export { createPlainBackend, createSandboxBackend, type SandboxBackendOptions } from './create.js';
export { type DenialQuestion, detectDenial } from './denial.js';

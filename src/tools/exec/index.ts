export { execAliases } from './aliases.js';
export { createExecTools } from './create-exec-tools.js';
export type { ExecOutput } from './format-output.js';
export { formatExecOutput, truncateOutput } from './format-output.js';
export type { ExecDeps, ExecToolOptions, PatchInterceptor } from './options.js';
export type { CommandPolicy, CommandQuestion } from './policy-port.js';
export { safeCoreCommandPolicy } from './safe-core-policy.js';
export type { Shell } from './shell.js';
export { findUserShell } from './shell.js';

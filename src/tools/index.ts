export {
  createApplyPatchTool,
  createTurnDiffTracker,
  interceptApplyPatch,
  runApplyPatchCommand,
} from './apply-patch/index.js';
export type { CallResult, DispatchServices, HookFacts, ToolHooks } from './dispatch.js';
export { dispatch, flatName } from './dispatch.js';
export type { CommandPolicy, CommandQuestion, ExecToolOptions, Shell } from './exec/index.js';
export { createExecTools, execAliases, findUserShell, safeCoreCommandPolicy } from './exec/index.js';
export type { AskElicitation, McpElicitation, McpElicitationAnswer, McpTools, McpToolsDeps } from './mcp/index.js';
export { createMcpTools } from './mcp/index.js';
export { planTool } from './plan.js';
export type { ToolAlias } from './registry.js';
export { ToolRegistry } from './registry.js';
export type { QuestionAsker } from './user-input.js';
export { createUserInputTool } from './user-input.js';
export { imageType, viewImageTool } from './view-image.js';
export { webSearchSpec } from './web-search.js';

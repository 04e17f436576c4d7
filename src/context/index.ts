export type { AgentsMd, AgentsMdOptions } from './agents-md.js';
export { readAgentsMd } from './agents-md.js';
export { BASE_INSTRUCTIONS } from './instructions.js';
export type { PairedHistory } from './pair-history.js';
export { outputItem, pairHistory } from './pair-history.js';
export type { ContextMessage, ContextOptions, PreparedContext } from './prepare.js';
export { prepareContext } from './prepare.js';

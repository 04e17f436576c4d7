export type { Asker, PermissionHook } from './asker.js';
export { ApprovalCache } from './cache.js';
export { computeChoices } from './choices.js';
export type { ApprovalQuestion, ApprovalServices, Verdict } from './decide.js';
export { decideApproval } from './decide.js';

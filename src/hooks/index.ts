export type { HookAnswer } from './answer.js';
export { readAnswer } from './answer.js';
export type { Handler, HookEvent, HookSet, HookSource, HookTrust } from './config.js';
export { compileMatcher, HOOK_EVENTS, readHooks } from './config.js';
export type { FoldedAnswer, HookFacts, HookSession } from './hooks.js';
export { Hooks } from './hooks.js';

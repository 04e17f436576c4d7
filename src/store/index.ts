export type { JsonlStoreOptions } from './jsonl.js';
export { createJsonlStore } from './jsonl.js';
export type { ListOptions, ThreadSummary } from './list-threads.js';
export { findThread, listThreads } from './list-threads.js';
export { createMemoryStore } from './memory.js';
export type { EventStore } from './port.js';
export { rolloutPathOf } from './rollout-files.js';
export { nameThread, readThreadNames } from './thread-names.js';

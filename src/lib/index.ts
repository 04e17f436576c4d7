export { AppendList } from './append-list.js';
export { AsyncQueue } from './async-queue.js';
export type { Clock, Ids } from './clock.js';
export { systemClock } from './clock.js';
export type { Deferred } from './deferred.js';
export { deferred } from './deferred.js';
export { GroupLock } from './group-lock.js';
export { randomIds, uuidV7 } from './ids.js';
export { quoteArgv } from './quote-argv.js';

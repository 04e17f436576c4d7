export type { Admission, ClientContext, SubmitOptions, Thread, ThreadStatus } from './port.js';
export { closeCrash } from './resume.js';
export type { ThreadServices } from './thread.js';
export { LiveThread } from './thread.js';
export { WaitingTable } from './waiting.js';

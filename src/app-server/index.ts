export type { AppServerIo } from './server.js';
export { runAppServer } from './server.js';

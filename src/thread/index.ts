export type { SteerRefusal, ThreadStatus } from './port.js';

export type { Admission, SubmitOptions, Thread, ThreadStatus } from '../thread/index.js';
export type { EngineOptions } from './create-engine.js';
export { createEngine } from './create-engine.js';
export type { Engine, ResumeOptions, StartOptions } from './port.js';
export { VERSION } from './version.js';

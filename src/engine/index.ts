export { findThread, listThreads, type ThreadSummary } from '../store/index.js';
export type { Admission, SubmitOptions, Thread, ThreadStatus } from '../thread/index.js';
export { openSession, type Session } from './compose.js';
export type { EngineOptions } from './create-engine.js';
export { createEngine } from './create-engine.js';
export { runApplyPatch } from './patch-command.js';
export type { Engine, ResumeOptions, StartOptions } from './port.js';
export { loadSessionConfig, type SessionConfig, type SessionRequest } from './session-config.js';
export { VERSION } from './version.js';

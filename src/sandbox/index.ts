export type { SandboxBackend } from './backend.js';

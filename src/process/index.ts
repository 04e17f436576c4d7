export type { ProcessExit, RunningProcess, SpawnOptions } from './process.js';

export type { EventStore } from './port.js';

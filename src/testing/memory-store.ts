/** The store for tests: nothing touches the disk, and the contract is the file store's. */
export { createMemoryStore } from '../store/index.js';

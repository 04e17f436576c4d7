export { VERSION } from '../lib/index.js';

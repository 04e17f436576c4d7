/** A host with a command running, for tests of how it ends: at the end of its input, or by a signal it handles. */
import { killAllProcesses } from '../../src/process/index.js';
import { printed, start } from './run.js';

process.on('SIGTERM', () => {
  killAllProcesses();
  process.exit(143);
});
const running = await start('setsid sleep 600 & echo ready; sleep 600', {
  env: { ...process.env } as Record<string, string>,
});
await printed(running, 'ready');
process.stdout.write('ready\n');
process.stdin.resume().on('end', () => process.exit(0));

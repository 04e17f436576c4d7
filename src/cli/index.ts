/**
 * The command line. Parts load when they are first needed: `--version` reads a constant and nothing else.
 */
import path from 'node:path';
import { VERSION } from '../lib/index.js';

/** `argv` without the program; `name` is how the program was called. Never rejects; ends the process with a status. */
export async function main(argv: readonly string[], name = path.basename(process.argv[1] ?? '')): Promise<void> {
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
    process.stdout.write(`turnwright ${VERSION}\n`);
    return;
  }
  const { runProgram } = await import('./program.js');
  const status = await runProgram(/^apply_?patch$/.test(name) ? ['apply_patch', ...argv] : argv);
  await flushed(process.stdout);
  process.exit(status);
}

/** A pipe may still hold what was written last. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || !stream.writable) resolve();
    else stream.write('', () => resolve());
  });
}

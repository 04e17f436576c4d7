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
  const lost = watchOutput();
  const { runProgram } = await import('./program.js');
  const status = await runProgram(/^apply_?patch$/.test(name) ? ['apply_patch', ...argv] : argv);
  await flushed(process.stdout);
  process.exit(reportLost(lost.why) ?? status);
}

/** Output that cannot be written must not end the program with a stack; whoever writes may look at the stream. */
function watchOutput(): { readonly why: NodeJS.ErrnoException | undefined } {
  let why: NodeJS.ErrnoException | undefined;
  process.stdout.on('error', (error) => {
    why ??= error;
  });
  process.stderr.on('error', () => {}); // nobody is left to be told
  return {
    get why() {
      return why;
    },
  };
}

/** The status when output was lost. A reader that left (`| head`) knows what it did. */
function reportLost(why: NodeJS.ErrnoException | undefined): number | undefined {
  if (why === undefined || why.code === 'EPIPE') return undefined;
  process.stderr.write(
    `error: standard output cannot be written (${why.code}); what was to be printed is lost [TW_OUTPUT_FILE]\n`,
  );
  return 1;
}

/** A pipe may still hold what was written last. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    const settled = () => setImmediate(resolve); // an error is told a moment after the write
    if (stream.destroyed || !stream.writable) settled();
    else stream.write('', settled);
  });
}

/** What the recorded cases call: `--policy FILE --cwd DIR -- COMMAND`. Bundled by the suite, so that it starts fast. */
import { runSandboxCommand } from '../../src/cli/sandbox.js';

process.exit(
  await runSandboxCommand(process.argv.slice(2), {
    env: process.env,
    cwd: process.cwd(),
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    loadPolicy: () => Promise.reject(new Error('the recorded cases name their policy')),
  }),
);

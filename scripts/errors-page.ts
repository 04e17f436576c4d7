// Prints docs/errors.md from the table of error codes. `npx tsx scripts/errors-page.ts > docs/errors.md`
import { ERROR_CODES } from '../src/protocol/index.js';

const rows = Object.entries(ERROR_CODES).map(([code, { exit, about }]) => `| \`${code}\` | ${exit} | ${about} |`);
process.stdout.write(`# Errors

Every error of the command line and the library has a code. The message says what happened, where, and what to do; programs test
\`error.code\` and read \`error.facts\`.

| code | exit status | when |
|---|---|---|
${rows.join('\n')}

Exit statuses of \`turnwright exec\`: 0 the turn completed, also when commands failed inside it · 1 the turn failed, or one of the
errors above · 2 wrong usage · 3 no model provider · 4 budget exhausted · 130 interrupted.
`);

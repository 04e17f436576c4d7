/** How an error reaches a person: one sentence, its code, and no stack unless it is our own bug. */
import type { TurnwrightError } from '../protocol/index.js';

/** Writes the error to stderr and returns the exit status it asks for. */
export function printError(error: unknown): number {
  if (isTurnwrightError(error) && error.code !== 'TW_INTERNAL') {
    const [sentence, ...more] = error.message.split('\n');
    process.stderr.write(`${[`error: ${sentence} [${error.code}]`, ...more].join('\n')}\n`);
    return error.exitCode;
  }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`error: a bug in turnwright; please report it [TW_INTERNAL]\n${detail}\n`);
  return 1;
}

/** By code, not by class: that survives two copies of the package. */
function isTurnwrightError(error: unknown): error is TurnwrightError {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('TW_');
}

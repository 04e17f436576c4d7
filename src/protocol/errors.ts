/**
 * One base class, one table of codes. A message says what happened, where, and what to do.
 * Test with `error.code`: it survives two copies of the package.
 */
export const ERROR_CODES = {
  TW_USAGE: { exit: 2, about: 'the command line or a library call is wrong' },
  TW_CONFIG_PARSE: { exit: 1, about: 'a configuration file or `-c` override cannot be read as TOML' },
  TW_CONFIG_VALUE: { exit: 1, about: 'a configuration value has the wrong type or an unknown word' },
  TW_CONFIG_READ: { exit: 1, about: 'a configuration file exists but cannot be read' },
  TW_HOME_WRITE: { exit: 1, about: 'the config home or a thread file cannot be written' },
  TW_NO_PROVIDER: { exit: 3, about: 'no model provider is configured and no local server was found' },
  TW_PROVIDER_CONFIG: { exit: 1, about: 'a model provider is configured wrongly' },
  TW_SCRIPT: { exit: 1, about: 'a model script cannot be read' },
  TW_CWD: { exit: 1, about: 'the working directory does not exist or cannot be entered' },
  TW_NOT_A_REPO: { exit: 1, about: 'the working directory is not inside a trusted git repository' },
  TW_SCHEMA_FILE: { exit: 1, about: 'the output schema file is missing or not valid JSON' },
  TW_INPUT_FILE: { exit: 1, about: 'an input file (image, prompt) cannot be read' },
  TW_OUTPUT_FILE: { exit: 1, about: 'an output file cannot be written' },
  TW_NO_PROMPT: { exit: 1, about: 'no prompt was given' },
  TW_THREAD_UNKNOWN: { exit: 1, about: 'no thread has this id' },
  TW_THREAD_BUSY: { exit: 1, about: 'the thread has an active turn or another process holds it' },
  TW_THREAD_CORRUPT: { exit: 1, about: 'a thread file cannot be understood' },
  TW_STORE_CONFLICT: { exit: 1, about: 'another writer appended to the thread first' },
  TW_MCP_SERVER: { exit: 1, about: 'a required MCP server cannot be used' },
  TW_RULES_PARSE: { exit: 1, about: 'a .rules file is invalid' },
  TW_PATCH: { exit: 1, about: 'a patch is malformed or does not apply' },
  TW_SANDBOX_UNAVAILABLE: { exit: 1, about: 'this machine cannot provide the sandbox the policy asks for' },
  TW_PTY_UNAVAILABLE: { exit: 1, about: 'no pseudo-terminal support is installed' },
  TW_TURN_FAILED: { exit: 1, about: 'the turn ended with an error' },
  TW_BUDGET: { exit: 4, about: 'the turn reached its budget' },
  TW_INTERNAL: { exit: 1, about: 'a bug in turnwright' },
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

export class TurnwrightError extends Error {
  readonly code: ErrorCode;
  /** Typed facts for programs: paths, keys, line numbers. */
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, options?: { facts?: Record<string, unknown>; cause?: unknown }) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'TurnwrightError';
    this.code = code;
    this.facts = options?.facts ?? {};
  }

  /** Process exit status for this error. */
  get exitCode(): number {
    return ERROR_CODES[this.code].exit;
  }
}

/** Why an abort signal fired. The reason is the creator's word: `user`, `replaced`, `shutdown`, `budget` … */
export class Interrupted extends Error {
  readonly why: string;
  constructor(why: string) {
    super(`interrupted (${why})`);
    this.name = 'Interrupted';
    this.why = why;
  }
}

/** Ends a `switch` over a union: the compiler proves that nothing reaches it. */
export function assertNever(value: never): never {
  throw new TurnwrightError('TW_INTERNAL', `unexpected value ${JSON.stringify(value)}`);
}

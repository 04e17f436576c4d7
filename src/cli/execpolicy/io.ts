/** What the `execpolicy` commands may touch. */
import { TurnwrightError } from '../../protocol/index.js';

export interface ExecpolicyIo {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  /** Absolute. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The product's home directory. */
  readonly home: string;
}

/** The command line is wrong: exit status 2. */
export function usage(message: string): TurnwrightError {
  return new TurnwrightError('TW_USAGE', message);
}

/** Takes the value of an option, glued with `=` or as the next word. */
export class ArgumentReader {
  readonly #args: readonly string[];
  #at = 0;

  constructor(args: readonly string[]) {
    this.#args = args;
  }

  /** The next word without taking it. */
  peek(): string | undefined {
    return this.#args[this.#at];
  }

  take(): string | undefined {
    return this.#args[this.#at++];
  }

  rest(): readonly string[] {
    return this.#args.slice(this.#at);
  }

  /** True and taken when the next word is this flag. */
  flag(...names: readonly string[]): boolean {
    const word = this.peek();
    if (word === undefined || !names.includes(word)) return false;
    this.#at++;
    return true;
  }

  /** The value when the next word is this option. */
  option(...names: readonly string[]): string | undefined {
    const word = this.peek();
    if (word === undefined) return undefined;
    const long = names.find((name) => name.startsWith('--') && word.startsWith(`${name}=`));
    if (long !== undefined) {
      this.#at++;
      return word.slice(long.length + 1);
    }
    if (!names.includes(word)) return undefined;
    this.#at++;
    const value = this.take();
    if (value === undefined) throw usage(`${word} needs a value`);
    return value;
  }
}

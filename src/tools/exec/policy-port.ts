/** The command policy port: who says whether a command may run, must be asked about, or may not. */
import type { Requirement, TurnSettings } from '../../protocol/index.js';

export interface CommandQuestion {
  /** What would be started: shell, flag, script. */
  readonly argv: readonly string[];
  /** The script alone, as the model wrote it. */
  readonly script: string;
  /** Absolute working directory of the command. */
  readonly cwd: string;
  readonly settings: TurnSettings;
  /** The model asks to run outside the sandbox. */
  readonly escalationRequested: boolean;
  /** The model's words for the person. */
  readonly justification?: string;
  /** A prefix the model proposes to allow from now on. */
  readonly prefixRule?: readonly string[];
}

export interface CommandPolicy {
  decide(question: CommandQuestion): Requirement | Promise<Requirement>;
}

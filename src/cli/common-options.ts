/** Options that several commands have. */
import type { Command } from 'commander';

/** Takes the exit status of the process. */
export type SetStatus = (status: number) => void;

/** Settings that stand before any command and hold for all of them. */
export interface CommonOptions {
  readonly config?: readonly string[];
  readonly enable?: readonly string[];
  readonly disable?: readonly string[];
  readonly profile?: string;
  readonly model?: string;
  readonly strictConfig?: boolean;
}

export function addCommonOptions(command: Command): Command {
  return command
    .option('-c, --config <key=value>', 'override a configuration key (repeatable)', collect)
    .option('--enable <feature>', 'switch a feature on (repeatable)', collect)
    .option('--disable <feature>', 'switch a feature off (repeatable)', collect)
    .option('-p, --profile <name>', 'add NAME.config.toml of your home')
    .option('-m, --model <model>', 'the model to use')
    .option('--strict-config', 'unknown configuration keys are errors');
}

/** For options that may be given more than once. */
export function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value];
}

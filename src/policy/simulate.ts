/** What a set of rules would have said to commands of the past. */
import { decideRequirement, type PolicyAnswer, type PolicyInput } from './decide-requirement.js';

export interface PastCommand {
  readonly argv: readonly string[];
  /** Absolute. */
  readonly cwd: string;
}

export type Outcome = 'run' | 'run outside the sandbox' | 'ask' | 'refuse';

export interface SimulatedCommand {
  readonly command: PastCommand;
  /** How often it occurred. */
  readonly count: number;
  readonly answer: PolicyAnswer;
  readonly outcome: Outcome;
}

/** Judges every distinct command once, in the order of their first occurrence. */
export function simulate(
  commands: Iterable<PastCommand>,
  settings: Omit<PolicyInput, 'argv' | 'cwd'>,
): readonly SimulatedCommand[] {
  const counted = new Map<string, { command: PastCommand; count: number }>();
  for (const command of commands) {
    const key = JSON.stringify([command.argv, command.cwd]);
    const known = counted.get(key);
    if (known) known.count++;
    else counted.set(key, { command, count: 1 });
  }
  return [...counted.values()].map(({ command, count }) => {
    const answer = decideRequirement({ ...settings, ...command });
    return { command, count, answer, outcome: outcomeOf(answer) };
  });
}

export function outcomeOf(answer: Pick<PolicyAnswer, 'kind'> & { readonly bypassSandbox?: boolean }): Outcome {
  if (answer.kind === 'forbidden') return 'refuse';
  if (answer.kind === 'needsApproval') return 'ask';
  return answer.bypassSandbox ? 'run outside the sandbox' : 'run';
}

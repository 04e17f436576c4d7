/** Start, steer or refuse: the guard matrix of user input, in the order of Codex 0.171. */
import type { TurnKind } from '../protocol/index.js';

export interface ActiveTurnFacts {
  readonly id: string;
  readonly kind: TurnKind;
  /** The task runs; false while the turn is only reserved. */
  readonly running: boolean;
  readonly hasOutputSchema: boolean;
}

export interface InputFacts {
  readonly empty: boolean;
  /** Steer only: the input must join this turn. */
  readonly expectedTurnId?: string;
  readonly ifActive: 'steer' | 'replace' | 'refuse';
  readonly demandsOutputSchema: boolean;
}

export type InputRefusal =
  | { readonly reason: 'noActiveTurn' }
  | { readonly reason: 'expectedTurnMismatch'; readonly expected: string; readonly actual: string }
  | { readonly reason: 'notSteerable'; readonly turnKind: 'review' | 'compact' }
  | { readonly reason: 'emptyInput' }
  | { readonly reason: 'outputSchemaMismatch' }
  | { readonly reason: 'threadBusy' };

export type Admitted =
  | { readonly kind: 'start' }
  | { readonly kind: 'replace'; readonly turnId: string }
  | { readonly kind: 'steer'; readonly turnId: string }
  | { readonly kind: 'refuse'; readonly refusal: InputRefusal };

export function admitInput(active: ActiveTurnFacts | undefined, input: InputFacts): Admitted {
  const steerOnly = input.expectedTurnId !== undefined;
  if (!active?.running) return steerOnly ? refuse({ reason: 'noActiveTurn' }) : { kind: 'start' };
  if (steerOnly && input.expectedTurnId !== active.id)
    return refuse({ reason: 'expectedTurnMismatch', expected: input.expectedTurnId, actual: active.id });
  if (!steerOnly && input.ifActive === 'refuse') return refuse({ reason: 'threadBusy' });
  if (!steerOnly && input.ifActive === 'replace') return { kind: 'replace', turnId: active.id };
  if (active.kind !== 'regular') return refuse({ reason: 'notSteerable', turnKind: active.kind });
  if (input.empty) return refuse({ reason: 'emptyInput' });
  if (input.demandsOutputSchema && !active.hasOutputSchema) return refuse({ reason: 'outputSchemaMismatch' });
  return { kind: 'steer', turnId: active.id };
}

function refuse(refusal: InputRefusal): Admitted {
  return { kind: 'refuse', refusal };
}

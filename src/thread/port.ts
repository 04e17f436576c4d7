/** Words of the thread that front-ends and the engine share. */

export type ThreadStatus =
  | { readonly kind: 'idle' }
  | { readonly kind: 'active'; readonly waitingOn: readonly ('approval' | 'userInput')[] };

/** Why input could not join the active turn. */
export type SteerRefusal =
  | { readonly reason: 'noActiveTurn' }
  | { readonly reason: 'expectedTurnMismatch'; readonly expected: string; readonly actual: string }
  | { readonly reason: 'notSteerable'; readonly turnKind: 'review' | 'compact' }
  | { readonly reason: 'emptyInput' }
  | { readonly reason: 'outputSchemaMismatch' }
  | { readonly reason: 'threadBusy' };

/** The list of choices is computed here and sent with the question; a UI only renders it. */
import type { Requirement, ReviewDecision } from '../protocol/index.js';

export interface ChoiceFacts {
  readonly attempt: 1 | 2;
  /** The call has keys that a later call could match. */
  readonly cacheable: boolean;
}

/** Codex 0.171 offers accept, the amendment and cancel; decline and the session scope work there unoffered. */
export function computeChoices(
  requirement: Extract<Requirement, { kind: 'needsApproval' }>,
  facts: ChoiceFacts,
): readonly ReviewDecision[] {
  const mayRemember = !requirement.once && facts.attempt === 1;
  return [
    { type: 'accept' },
    ...(mayRemember && facts.cacheable ? [{ type: 'acceptForSession' } as const] : []),
    ...(mayRemember && requirement.proposed
      ? [{ type: 'acceptWithAmendment', amendment: requirement.proposed } as const]
      : []),
    { type: 'decline' },
    { type: 'cancel' },
  ];
}

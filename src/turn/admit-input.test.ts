import { expect, test } from 'vitest';
import { type ActiveTurnFacts, type Admitted, admitInput, type InputFacts } from './admit-input.js';

const active: ActiveTurnFacts = { id: 't1', kind: 'regular', running: true, hasOutputSchema: false };
const input: InputFacts = { empty: false, ifActive: 'steer', demandsOutputSchema: false };
const steer = { ...input, expectedTurnId: 't1' };
const refuse = (refusal: Extract<Admitted, { kind: 'refuse' }>['refusal']): Admitted => ({ kind: 'refuse', refusal });

test.each<[string, ActiveTurnFacts | undefined, InputFacts, Admitted]>([
  ['idle: starts', undefined, input, { kind: 'start' }],
  ['idle, empty input: starts a turn that samples again', undefined, { ...input, empty: true }, { kind: 'start' }],
  ['idle, steer only: refused', undefined, steer, refuse({ reason: 'noActiveTurn' })],
  [
    'reserved but not running, steer only: refused',
    { ...active, running: false },
    steer,
    refuse({ reason: 'noActiveTurn' }),
  ],
  ['reserved but not running: starts after it', { ...active, running: false }, input, { kind: 'start' }],
  ['running: steers', active, input, { kind: 'steer', turnId: 't1' }],
  ['running, expected turn: steers', active, steer, { kind: 'steer', turnId: 't1' }],
  [
    'running, another turn expected: refused with both ids',
    active,
    { ...steer, expectedTurnId: 't0' },
    refuse({ reason: 'expectedTurnMismatch', expected: 't0', actual: 't1' }),
  ],
  [
    'mismatch is told before the kind',
    { ...active, kind: 'review' },
    { ...steer, expectedTurnId: 't0' },
    refuse({ reason: 'expectedTurnMismatch', expected: 't0', actual: 't1' }),
  ],
  ['review: refused', { ...active, kind: 'review' }, input, refuse({ reason: 'notSteerable', turnKind: 'review' })],
  [
    'compaction: refused',
    { ...active, kind: 'compact' },
    steer,
    refuse({ reason: 'notSteerable', turnKind: 'compact' }),
  ],
  [
    'kind is told before empty input',
    { ...active, kind: 'compact' },
    { ...steer, empty: true },
    refuse({ reason: 'notSteerable', turnKind: 'compact' }),
  ],
  ['running, empty input: refused', active, { ...input, empty: true }, refuse({ reason: 'emptyInput' })],
  [
    'running without the demanded schema: refused',
    active,
    { ...input, demandsOutputSchema: true },
    refuse({ reason: 'outputSchemaMismatch' }),
  ],
  [
    'running with a schema: steers',
    { ...active, hasOutputSchema: true },
    { ...input, demandsOutputSchema: true },
    { kind: 'steer', turnId: 't1' },
  ],
  ['running, replace: replaces', active, { ...input, ifActive: 'replace' }, { kind: 'replace', turnId: 't1' }],
  [
    'review, replace: replaces',
    { ...active, kind: 'review' },
    { ...input, ifActive: 'replace' },
    { kind: 'replace', turnId: 't1' },
  ],
  ['running, refuse: busy', active, { ...input, ifActive: 'refuse' }, refuse({ reason: 'threadBusy' })],
])('%s', (_name, turn, facts, expected) => {
  expect(admitInput(turn, facts)).toEqual(expected);
});

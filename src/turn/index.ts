export type { ActiveTurnFacts, Admitted, InputFacts, InputRefusal } from './admit-input.js';
export { admitInput } from './admit-input.js';
export { driveTurn, judgedInput } from './driver.js';
export { ThreadLog } from './log.js';
export type { ActiveTurn, OpenCall, Phase, Step, ThreadState } from './machine.js';
export { apply, INITIAL_STATE, nextStep } from './machine.js';
export type { PendingInput, PromptHooks, RunToolCall, StopHooks, TurnServices } from './services.js';
export { contextItem } from './services.js';

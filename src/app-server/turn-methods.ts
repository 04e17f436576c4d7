/** `turn/*`: input, steers and interrupts. */
import type { Admission } from '../engine/index.js';
import { optionalWord, requiredText } from './params.js';
import { INVALID_REQUEST, RpcFailure } from './rpc.js';
import type { Methods } from './server.js';
import { readContext, readInput, turnOverrides } from './settings.js';
import type { Threads } from './threads.js';

export function turnMethods(threads: Threads): Methods {
  return {
    /** Starts a turn or joins the running one; clients compare ids to know which. */
    async 'turn/start'(params) {
      const open = threads.of(params);
      const settings = turnOverrides(params, open.settings);
      const input = readInput(params);
      const context = readContext(params);
      const turnId = admitted(
        await open.thread.submit(input, { settings, ...(context.length > 0 ? { context } : {}) }),
      );
      const { outputSchema: _onlyThisTurn, ...sticky } = settings;
      open.settings = { ...open.settings, ...sticky };
      return { turn: open.mapper.turn('inProgress', { id: turnId }) };
    },
    async 'turn/steer'(params) {
      const open = threads.of(params);
      const expectedTurnId = requiredText(params, 'expectedTurnId');
      const delivery = optionalWord(params, 'delivery', ['now', 'next_step']);
      const input = readInput(params);
      return {
        turnId: admitted(await open.thread.submit(input, { expectedTurnId, ...(delivery ? { delivery } : {}) })),
      };
    },
    async 'turn/interrupt'(params) {
      const open = threads.of(params);
      await open.thread.interrupt(requiredText(params, 'turnId'));
      return {};
    },
  };
}

/** The id of the turn the input went to, or the refusal in the protocol's words. */
function admitted(admission: Admission): string {
  if (admission.kind !== 'refused') return admission.turnId;
  const { refusal } = admission;
  switch (refusal.reason) {
    case 'noActiveTurn':
      throw new RpcFailure(INVALID_REQUEST, 'no active turn to steer');
    case 'expectedTurnMismatch':
      throw new RpcFailure(
        INVALID_REQUEST,
        `expected turn ${refusal.expected} but the active turn is ${refusal.actual}`,
      );
    case 'notSteerable':
      throw new RpcFailure(INVALID_REQUEST, `a ${refusal.turnKind} turn cannot be steered`, {
        codexErrorInfo: { activeTurnNotSteerable: { turnKind: refusal.turnKind } },
      });
    case 'emptyInput':
      throw new RpcFailure(INVALID_REQUEST, 'input must not be empty');
    case 'outputSchemaMismatch':
      throw new RpcFailure(INVALID_REQUEST, 'the active turn has no output schema');
    case 'threadBusy':
      throw new RpcFailure(INVALID_REQUEST, 'the thread has an active turn');
  }
}

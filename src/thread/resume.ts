/**
 * Bringing a thread back: load, fold, and close what a crash left open. There is no second path that restores state.
 * A call that was started is never run again; a person (or `continueTurn`) decides whether the turn goes on.
 */
import { outputItem, pairHistory } from '../context/index.js';
import { AppendList, type Ids } from '../lib/index.js';
import type { ThreadRecord } from '../protocol/index.js';
import { contextItem, type OpenCall, type ThreadLog } from '../turn/index.js';

const EFFECTS_UNKNOWN =
  'aborted: turnwright stopped while this call was running. Whether it finished, and what it changed, is unknown. Check before doing it again.';
const NEVER_RAN = 'aborted: turnwright stopped before this call was started. It did not run.';
const NO_OUTPUT = 'aborted: the output of this call was lost. Whether it ran is unknown.';

const PROCESS_DIED = `<turn_aborted>
The program running this turn stopped before the turn was over. A call that was running then may have had part or all of its effects.
</turn_aborted>`;

/**
 * Ends the turn that a crash left open, or (with `continueTurn`) makes it ready to be driven on. Resolves with warnings
 * for the person, about damage that was found; the file stays as it is, so each opening finds it again.
 */
export async function closeCrash(log: ThreadLog, ids: Ids, continueTurn: boolean): Promise<readonly string[]> {
  const turn = log.state.turn;
  if (!turn) return repairHistory(log);
  const open = turn.calls.filter((call) => !call.output && (call.started || !continueTurn));
  const records: ThreadRecord[] = [
    ...(log.state.phase === 'sampling' ? [{ type: 'sampling.ended', result: { ok: true, cut: true } } as const] : []),
    ...open.map(closeCall),
  ];
  if (!continueTurn)
    records.push(
      { type: 'item.completed', item: contextItem(ids, 'user', 'processDied', PROCESS_DIED) },
      { type: 'turn.ended', turnId: turn.id, status: 'interrupted', reason: 'processDied' },
    );
  if (records.length > 0) await log.append(...records);
  return continueTurn ? [] : repairHistory(log);
}

function closeCall(call: OpenCall): ThreadRecord {
  const text = call.started ? EFFECTS_UNKNOWN : NEVER_RAN;
  return { type: 'item.completed', item: outputItem(call.item, { kind: 'aborted', text }) };
}

/** A log that was cut, edited or imported may hold calls without output or outputs without call. The file stays as it is. */
function repairHistory(log: ThreadLog): readonly string[] {
  const { items, closed, dropped } = pairHistory(log.state.history, NO_OUTPUT);
  if (closed.length > 0 || dropped.length > 0) log.resetState({ ...log.state, history: AppendList.of(items) });
  const strays = dropped.length + log.strayOutputs;
  const parts = [
    ...(closed.length > 0 ? [`${count(closed.length, 'call')} had no output and got one that says so`] : []),
    ...(strays > 0 ? [`${count(strays, 'output')} had no call and will not be sent to the model`] : []),
  ];
  return parts.length === 0 ? [] : [`the thread's history was damaged: ${parts.join('; ')}`];
}

function count(n: number, what: string): string {
  return n === 1 ? `one ${what}` : `${n} ${what}s`;
}

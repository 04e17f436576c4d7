/** History cut into what wires of the chat kind send as one piece. */
import type { Item, ItemOf, ToolCallItem, ToolOutputItem, ToolPayload } from '../protocol/index.js';

type Plain = ItemOf<'context'> | ItemOf<'userMessage'>;

export type Unit =
  /** Developer messages before anything else. */
  | { readonly kind: 'head'; readonly members: readonly Item[]; readonly items: readonly ItemOf<'context'>[] }
  | { readonly kind: 'message'; readonly members: readonly Item[]; readonly item: Plain | ToolOutputItem }
  /** What the model said and called, each call with its output, and what came in between from outside. */
  | {
      readonly kind: 'round';
      readonly members: readonly Item[];
      readonly items: readonly (ItemOf<'agentMessage'> | ItemOf<'reasoning'> | ToolCallItem)[];
      readonly answers: readonly (readonly [ToolCallItem, ToolOutputItem | undefined])[];
      readonly after: readonly Plain[];
    };

export function historyUnits(history: Iterable<Item>): Unit[] {
  const units: Unit[] = [];
  let head: ItemOf<'context'>[] | undefined = [];
  let round: Item[] = [];
  let open = 0; // calls of the round without output
  let calls = 0;
  const closeRound = () => {
    if (round.length > 0) units.push(roundOf(round));
    round = [];
    open = 0;
    calls = 0;
  };
  for (const item of history) {
    if (head && item.type === 'context' && item.role === 'developer') {
      head.push(item);
      continue;
    }
    if (head && head.length > 0) units.push({ kind: 'head', members: head, items: head });
    head = undefined;
    if (item.type === 'hostedCall') continue; // another provider's own
    const answered = calls > 0 && open === 0;
    switch (item.type) {
      case 'context':
      case 'userMessage':
        if (open > 0) round.push(item);
        else {
          closeRound();
          units.push({ kind: 'message', members: [item], item });
        }
        break;
      case 'toolOutput':
        if (open > 0 && round.some((call) => call.type === 'toolCall' && call.callId === item.callId)) {
          round.push(item);
          open--;
        } else if (item.callId === '') {
          closeRound();
          units.push({ kind: 'message', members: [item], item });
        }
        break; // an output without a call has no place on these wires
      default:
        if (answered) closeRound();
        round.push(item);
        if (item.type === 'toolCall') {
          open++;
          calls++;
        }
    }
  }
  if (head && head.length > 0) units.push({ kind: 'head', members: head, items: head });
  closeRound();
  return units;
}

/** Outputs go to the earliest unanswered call of their id. */
function roundOf(members: readonly Item[]): Unit {
  const outputs = members.filter((item) => item.type === 'toolOutput');
  const answers = members
    .filter((item) => item.type === 'toolCall')
    .map((call): readonly [ToolCallItem, ToolOutputItem | undefined] => {
      const at = outputs.findIndex((output) => output.callId === call.callId);
      return [call, at < 0 ? undefined : outputs.splice(at, 1)[0]];
    });
  return {
    kind: 'round',
    members,
    items: members.filter(
      (item) => item.type === 'agentMessage' || item.type === 'reasoning' || item.type === 'toolCall',
    ),
    answers,
    after: members.filter((item) => item.type === 'context' || item.type === 'userMessage'),
  };
}

/** Arguments as a JSON text that every server can parse: free text and broken JSON are wrapped. */
export function functionArguments(payload: ToolPayload): string {
  if (payload.kind === 'custom') return JSON.stringify({ input: payload.input });
  if (payload.arguments.trim() === '') return '{}';
  try {
    const value: unknown = JSON.parse(payload.arguments);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return payload.arguments;
  } catch {
    // Some chat templates parse the arguments and fail the whole request on one bad call of the past.
  }
  return JSON.stringify({ unparsed_arguments: payload.arguments });
}

/** Serialises a unit once; a unit that grew since (its round was still open) is serialised anew. */
export class UnitCache {
  readonly #known = new WeakMap<Item, { members: readonly Item[]; bytes: Buffer }>();

  get(unit: Unit, encode: (unit: Unit) => string): Buffer {
    const key = unit.members[0]!;
    const known = this.#known.get(key);
    if (known && sameMembers(known.members, unit.members)) return known.bytes;
    const bytes = Buffer.from(encode(unit));
    this.#known.set(key, { members: unit.members, bytes });
    return bytes;
  }
}

function sameMembers(a: readonly Item[], b: readonly Item[]): boolean {
  return a.length === b.length && a.every((item, i) => item === b[i]);
}

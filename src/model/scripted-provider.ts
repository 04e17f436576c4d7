/** A model that answers from a script, inside the process. Its events pass the real Responses decoder. */
import { type Clock, type Ids, randomIds, systemClock } from '../lib/index.js';
import type { Item } from '../protocol/index.js';
import { lookUpModel, type ModelTraits } from './catalogue.js';
import { EventBuffer } from './event-buffer.js';
import { cutFailure, httpFailure, type ProviderFacts } from './failure.js';
import { Gates } from './gates.js';
import type { ModelEvent, ModelProvider, ModelRequest } from './port.js';
import { ResponsesDecoder } from './responses-decode.js';
import type { Script, ScriptStep } from './script.js';
import { announcedSession, scriptActions, withSession } from './script-events.js';

export interface ScriptedOptions {
  readonly id?: string;
  /** Where the script came from, for messages. */
  readonly source?: string;
  readonly clock?: Clock;
  readonly ids?: Ids;
  /** Default 5. */
  readonly streamMaxRetries?: number;
  readonly capabilities?: Partial<ModelTraits>;
}

export interface ScriptedProvider extends ModelProvider {
  /** Every request so far, its input copied. */
  readonly requests: readonly (Omit<ModelRequest, 'input'> & { readonly input: readonly Item[] })[];
  gate(name: string): { open(): void };
}

/** The k-th request gets the k-th step, whoever asks. */
export function createScriptedProvider(script: Script, options: ScriptedOptions = {}): ScriptedProvider {
  const id = options.id ?? 'scripted';
  const source = options.source ?? 'script';
  const clock = options.clock ?? systemClock;
  const provider: ProviderFacts = { id, name: 'the scripted model', baseUrl: source };
  const gates = new Gates();
  const requests: (Omit<ModelRequest, 'input'> & { input: readonly Item[] })[] = [];
  return {
    id,
    streamMaxRetries: options.streamMaxRetries ?? 5,
    requests,
    gate: (name) => gates.gate(name),
    // Whatever name is asked for, the script answers: it stands for a model that can do everything.
    capabilities: () => ({ ...lookUpModel('gpt-5.5'), ...options.capabilities }),
    async *sample(request, signal): AsyncGenerator<ModelEvent> {
      signal.throwIfAborted();
      const n = requests.length;
      const input = [...request.input];
      requests.push({ ...request, input });
      const step = stepOf(script, n);
      const objection = step ? unmet(step, input) : `has no step for request ${n + 1}`;
      if (!step || objection !== undefined) {
        yield { type: 'failed', error: { kind: 'internal', message: `${source}: ${objection}` } };
        return;
      }
      if (step.gate !== undefined) await abortable(gates.wait(step.gate), signal);
      if (step.status !== undefined && step.status !== 200) {
        const body = typeof step.body === 'string' ? step.body : JSON.stringify(step.body ?? {});
        const answer = { status: step.status, retryAfter: headerOf(step, 'retry-after'), body };
        yield { type: 'failed', error: httpFailure(provider, request.model, answer, clock.nowMs()) };
        return;
      }
      const ids = options.ids ?? randomIds;
      yield* play(
        step,
        n,
        announcedSession(outputTexts(input)),
        { gates, clock, provider, ids, model: request.model },
        signal,
      );
    },
  };
}

/** The step for request `n`, from 0. */
export function stepOf(script: Script, n: number): ScriptStep | undefined {
  return script.steps[n] ?? (script.after === 'repeat' ? script.steps.at(-1) : undefined);
}

interface Stage {
  readonly gates: Gates;
  readonly clock: Clock;
  readonly provider: ProviderFacts;
  readonly ids: Ids;
  readonly model: string;
}

async function* play(
  step: ScriptStep,
  n: number,
  session: string,
  stage: Stage,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const out = new EventBuffer();
  const decoder = new ResponsesDecoder(out, stage);
  for (const [index, event] of (step.events ?? []).entries()) {
    for (const action of scriptActions(withSession(event, session), n, index)) {
      signal.throwIfAborted();
      switch (action.do) {
        case 'send':
          decoder.event(action.event);
          for (let ready = out.shift(); ready; ready = out.shift()) yield ready;
          if (out.ended) return;
          break;
        case 'gate':
          await abortable(stage.gates.wait(action.name), signal);
          break;
        case 'wait':
          await stage.clock.sleep(action.ms, signal);
          break;
        case 'hold':
          await abortable(new Promise(() => {}), signal);
          break;
        case 'drop':
          yield { type: 'failed', error: cutFailure({ code: 'ECONNRESET' }) };
          return;
        case 'eof':
          return;
      }
    }
  }
}

/** Why the request is not what the step expects. */
function unmet(step: ScriptStep, input: readonly Item[]): string | undefined {
  if (step.expect === undefined) return undefined;
  const last = input.findLast((item) => item.type === 'toolOutput' || item.type === 'userMessage');
  const text = last === undefined ? '' : textOf(last);
  if (text.includes(step.expect)) return undefined;
  return `expected the last output or message to contain ${JSON.stringify(step.expect)}; it was ${JSON.stringify(text.slice(0, 300))}`;
}

function* outputTexts(input: readonly Item[]): Iterable<string> {
  for (const item of input) if (item.type === 'toolOutput') yield textOf(item);
}

function textOf(item: Item): string {
  if (item.type === 'toolOutput') return item.modelText ?? item.outcome.text;
  if (item.type !== 'userMessage') return '';
  return item.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}

function headerOf(step: ScriptStep, name: string): string | undefined {
  return Object.entries(step.headers ?? {}).find(([key]) => key.toLowerCase() === name)?.[1];
}

const LONG_MS = 2 ** 30;

/** The promise, or a rejection with `signal.reason` if that comes first. As an open connection would, it keeps the process alive. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const alive = setInterval(() => {}, LONG_MS);
    const settle = () => {
      clearInterval(alive);
      signal.removeEventListener('abort', stop);
    };
    const stop = () => {
      settle();
      reject(signal.reason);
    };
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(settle);
  });
}

/**
 * What `exec` shows a person: progress on stderr, the last message on stdout. When stderr is not a terminal, only warnings
 * and errors are written there, so that scripts stay quiet.
 */
import { quoteArgv } from '../lib/index.js';
import type {
  FileChange,
  Item,
  ThreadEvent,
  ThreadRecord,
  ToolOutcome,
  ToolView,
  TurnSettings,
} from '../protocol/index.js';
import { commandOutput } from './exec-items.js';

export interface HumanOutput {
  begin(threadId: string, settings: TurnSettings): void;
  show(event: ThreadEvent): void;
}

export interface HumanStreams {
  write(text: string): void;
  /** A person watches: show progress. */
  readonly progress: boolean;
  readonly color: boolean;
}

type Style = 'dim' | 'red' | 'green' | 'yellow' | 'bold';
const CODES: Readonly<Record<Style, string>> = { dim: '2', red: '31', green: '32', yellow: '33', bold: '1' };

/** Lines of a command's output that are shown at its end. */
const SHOWN_LINES = 20;

export function createHumanOutput(streams: HumanStreams): HumanOutput {
  return new Output(streams);
}

class Output implements HumanOutput {
  readonly #streams: HumanStreams;
  readonly #views = new Map<string, ToolView>();

  constructor(streams: HumanStreams) {
    this.#streams = streams;
  }

  begin(threadId: string, settings: TurnSettings): void {
    const { model, provider, cwd, sandbox, approvalPolicy } = settings;
    const approval = typeof approvalPolicy === 'string' ? approvalPolicy : 'granular';
    this.#progress(`thread   ${threadId}\nmodel    ${model} (${provider})\nfolder   ${cwd}`, 'dim');
    this.#progress(`sandbox  ${sandbox.mode}, network ${sandbox.network.kind}\napproval ${approval}`, 'dim');
  }

  show(event: ThreadEvent): void {
    if (event.kind === 'record') this.#record(event.stored.record);
  }

  #record(record: ThreadRecord): void {
    switch (record.type) {
      case 'warning':
        this.#always(`warning: ${record.message}`, 'yellow');
        break;
      case 'tool.started':
        this.#started(record);
        break;
      case 'item.completed':
        this.#item(record.item);
        break;
      case 'sampling.ended':
        this.#always(describeRetry(record), 'yellow');
        break;
      case 'turn.ended':
        if (record.status === 'failed') this.#always(`error: ${record.error?.message ?? 'the turn failed'}`, 'red');
        break;
      default: // not worth a person's attention
    }
  }

  #started(record: Extract<ThreadRecord, { type: 'tool.started' }>): void {
    const again = this.#views.has(record.callId);
    this.#views.set(record.callId, record.view);
    const line = describeView(record.view);
    if (line) this.#progress(`${again ? 'again, outside the sandbox: ' : ''}${line}`, 'bold');
  }

  #item(item: Item): void {
    if (item.type === 'agentMessage') this.#progress(`\n${item.text}\n`);
    if (item.type === 'reasoning') this.#progress(item.summary.join('\n'), 'dim');
    if (item.type === 'toolOutput') this.#outcome(item.callId, item.outcome);
  }

  #outcome(callId: string, outcome: ToolOutcome): void {
    const view = this.#views.get(callId);
    this.#views.delete(callId);
    if (outcome.kind === 'rejected') this.#progress(`  refused: ${outcome.text}`, 'yellow');
    else if (outcome.kind !== 'ok') this.#progress(`  ${outcome.kind}: ${firstLine(outcome.text)}`, 'red');
    if (outcome.report?.type === 'plan')
      for (const step of outcome.report.steps) this.#progress(`  ${MARKS[step.status]} ${step.step}`);
    if (view?.type === 'command' && outcome.report?.type === 'command')
      this.#progress(tail(commandOutput(outcome)), 'dim');
  }

  #progress(text: string, style?: Style): void {
    if (this.#streams.progress) this.#always(text, style);
  }

  #always(text: string, style?: Style): void {
    if (text === '') return;
    const clean = text.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, ''); // a model must not drive the terminal
    this.#streams.write(style && this.#streams.color ? `\u001b[${CODES[style]}m${clean}\u001b[0m\n` : `${clean}\n`);
  }
}

function describeRetry(record: Extract<ThreadRecord, { type: 'sampling.ended' }>): string {
  const { result } = record;
  if (result.ok || !result.willRetry) return '';
  return `reconnecting (${result.retry ?? 1}/${result.maxRetries ?? 1}): ${result.error.message}`;
}

const MARKS = { pending: '[ ]', in_progress: '[>]', completed: '[x]' } as const;

function describeView(view: ToolView): string | undefined {
  switch (view.type) {
    case 'command':
      return `$ ${quoteArgv(view.argv)}`;
    case 'stdin':
      return view.chars === '' ? undefined : `session ${view.sessionId} < ${JSON.stringify(view.chars)}`;
    case 'fileChange':
      return view.changes.map(describeChange).join('\n');
    case 'mcp':
      return `${view.server}.${view.tool}`;
    case 'image':
      return `looks at ${view.path}`;
    default:
      return undefined;
  }
}

const LETTERS = { add: 'A', delete: 'D', update: 'M' } as const;

function describeChange(change: FileChange): string {
  return `${LETTERS[change.kind]} ${change.path}${change.movePath === undefined ? '' : ` → ${change.movePath}`}`;
}

function tail(output: string): string {
  const lines = output.trimEnd().split('\n');
  const hidden = lines.length - SHOWN_LINES;
  return [...(hidden > 0 ? [`… ${hidden} lines`] : []), ...lines.slice(-SHOWN_LINES)]
    .map((line) => `  ${line}`)
    .join('\n');
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

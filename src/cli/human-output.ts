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
  ToolCallItem,
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
const SHOWN_DIFF_LINES = 40;

export function createHumanOutput(streams: HumanStreams): HumanOutput {
  return new Output(streams);
}

class Output implements HumanOutput {
  readonly #streams: HumanStreams;
  readonly #views = new Map<string, ToolView>();
  readonly #calls = new Map<string, ToolCallItem>();
  /** Call whose line was printed last: output of another one gets its line again. */
  #lastHead: string | undefined;

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
    if (line) this.#head(record.callId, `${again ? 'again, outside the sandbox: ' : ''}${line}`);
  }

  #item(item: Item): void {
    if (item.type === 'agentMessage') this.#progress(`\n${item.text}\n`);
    if (item.type === 'reasoning') this.#progress(item.summary.join('\n'), 'dim');
    if (item.type === 'toolCall') this.#calls.set(item.callId, item);
    if (item.type === 'toolOutput') this.#outcome(item.callId, item.outcome);
  }

  #outcome(callId: string, outcome: ToolOutcome): void {
    const view = this.#views.get(callId);
    const line = (view && describeView(view)) ?? describeCall(this.#calls.get(callId));
    this.#views.delete(callId);
    this.#calls.delete(callId);
    if (line && this.#lastHead !== callId && hasNews(outcome)) this.#head(callId, line);
    const { report } = outcome;
    if (report?.type === 'plan')
      for (const step of report.steps) this.#progress(`  ${MARKS[step.status]} ${step.step}`);
    if (view?.type === 'command' && report?.type === 'command') this.#progress(tail(commandOutput(outcome)), 'dim');
    if (outcome.kind === 'ok' && report?.type === 'fileChange') this.#diff(report.diff ?? '');
    this.#progress(describeEnd(outcome), outcome.kind === 'rejected' ? 'yellow' : 'red');
  }

  #diff(diff: string): void {
    const lines = diff.split('\n').filter((line) => /^([-+ ](?!--|\+\+)|@@)/.test(line));
    for (const line of lines.slice(0, SHOWN_DIFF_LINES))
      this.#progress(`  ${line}`, line.startsWith('+') ? 'green' : line.startsWith('-') ? 'red' : 'dim');
    if (lines.length > SHOWN_DIFF_LINES) this.#progress(`  … ${lines.length - SHOWN_DIFF_LINES} more lines`, 'dim');
  }

  /** The line a call's output belongs under. */
  #head(callId: string, line: string): void {
    this.#lastHead = callId;
    this.#progress(line, 'bold');
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

/** Something is printed for it. */
function hasNews(outcome: ToolOutcome): boolean {
  return outcome.kind !== 'ok' || outcome.report?.type === 'command';
}

function describeEnd(outcome: ToolOutcome): string {
  if (outcome.kind === 'ok') return '';
  if (outcome.kind === 'rejected') return `  refused: ${outcome.text}`;
  if (outcome.kind === 'aborted') return '  stopped';
  const report = outcome.report;
  if (report?.type === 'command' && report.exitCode !== null && report.exitCode !== -1)
    return `  exit ${report.exitCode}${report.denial ? ', stopped by the sandbox' : ''}`;
  return `  failed: ${firstLine(outcome.text)}`;
}

/** A call that never ran has no view; its arguments say what it wanted. */
function describeCall(call: ToolCallItem | undefined): string | undefined {
  if (!call) return undefined;
  if (call.payload.kind === 'custom') return call.tool;
  const script = /^\{.*"cmd":\s*("(?:[^"\\]|\\.)*")/s.exec(call.payload.arguments)?.[1];
  return script === undefined ? call.tool : `$ ${JSON.parse(script)}`;
}

const MARKS = { pending: '[ ]', in_progress: '[>]', completed: '[x]' } as const;

function describeView(view: ToolView): string | undefined {
  switch (view.type) {
    case 'command':
      return `$ ${/^-l?c$/.test(view.argv[1] ?? '') && view.argv.length === 3 ? view.argv[2] : quoteArgv(view.argv)}`;
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

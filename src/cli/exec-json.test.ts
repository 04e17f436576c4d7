import { expect, test } from 'vitest';
import type { Item, ItemBody, ThreadEvent, ThreadRecord, ToolOutcome, Usage } from '../protocol/index.js';
import { createExecJsonMapper, type ExecEvent } from './exec-json.js';

type Input = ThreadRecord | Extract<ThreadEvent, { kind: 'delta' }>['delta'];

/** What the mapper makes of these records and deltas, without the first line. */
function linesOf(inputs: readonly (ThreadRecord | { readonly delta: unknown })[], usage?: Usage): readonly ExecEvent[] {
  const mapper = createExecJsonMapper({ threadId: 'thread', ...(usage ? { usage } : {}) });
  const events = inputs.map(
    (input, i): ThreadEvent =>
      'delta' in input
        ? { kind: 'delta', delta: input.delta as Exclude<Input, ThreadRecord> }
        : { kind: 'record', stored: { seq: i + 1, atMs: 0, record: input } },
  );
  const [first, ...rest] = events.flatMap((event) => mapper.next(event));
  expect(first).toEqual({ type: 'thread.started', thread_id: 'thread' });
  return rest;
}

let ids = 0;
const item = (body: ItemBody): ThreadRecord => ({ type: 'item.completed', item: { ...body, id: `i${++ids}` } as Item });
const call = (callId: string, tool = 'exec_command', args: unknown = { cmd: 'ls -a' }): ThreadRecord =>
  item({ type: 'toolCall', callId, tool, payload: { kind: 'function', arguments: JSON.stringify(args) } });
const output = (callId: string, outcome: ToolOutcome): ThreadRecord =>
  item({ type: 'toolOutput', callId, payloadKind: 'function', outcome });
const started = (callId: string, attempt: 1 | 2 = 1): ThreadRecord => ({
  type: 'tool.started',
  callId,
  attempt,
  sandbox: 'bwrap',
  view: { type: 'command', argv: ['/bin/sh', '-c', 'ls -a'], cwd: '/w' },
});
const ended: ThreadRecord = { type: 'turn.ended', turnId: 't', status: 'completed' };
const usage = (n: number): Usage => ({
  inputTokens: n,
  cachedInputTokens: n,
  cacheWriteInputTokens: n,
  outputTokens: n,
  reasoningOutputTokens: n,
  totalTokens: 2 * n,
});
const wireUsage = (n: number) => ({
  input_tokens: n,
  cached_input_tokens: n,
  cache_write_input_tokens: n,
  output_tokens: n,
  reasoning_output_tokens: n,
});
const shellItem = { id: 'item_0', type: 'command_execution', command: "/bin/sh -c 'ls -a'" };

test('a resumed thread goes on counting its usage', () => {
  const sampled: ThreadRecord = { type: 'sampling.ended', result: { ok: true, usage: usage(10) } };
  expect(linesOf([sampled, sampled, ended], usage(100))).toEqual([{ type: 'turn.completed', usage: wireUsage(120) }]);
});

test('a refused call that never started is one declined item with who decided', () => {
  const decision = { by: 'policy', rule: 'x.rules:3', reason: 'no rm' } as const;
  const refused: ToolOutcome = { kind: 'rejected', by: 'policy', text: 'exec_command rejected: no rm', decision };
  expect(linesOf([call('c', 'exec_command', { cmd: 'rm -rf x' }), output('c', refused)])).toEqual([
    {
      type: 'item.completed',
      item: {
        id: 'item_0',
        type: 'command_execution',
        command: 'rm -rf x',
        aggregated_output: '',
        exit_code: null,
        status: 'declined',
        decision: { by: 'policy', rule: 'x.rules:3', reason: 'no rm' },
      },
    },
  ]);
});

test.each([
  ['a patch', 'apply_patch', undefined, { type: 'file_change', changes: [] }],
  [
    'an MCP tool',
    'find',
    'mcp__docs',
    { type: 'mcp_tool_call', server: 'docs', tool: 'find', result: null, error: null },
  ],
])('refused: %s keeps its kind of item', (_name, tool, namespace, expected) => {
  const made = item({
    type: 'toolCall',
    callId: 'c',
    tool,
    ...(namespace ? { namespace } : {}),
    payload: { kind: 'custom', input: 'text' },
  });
  const refused: ToolOutcome = { kind: 'rejected', by: 'user', text: 'no' };
  expect(linesOf([made, output('c', refused)])).toMatchObject([
    { type: 'item.completed', item: { ...expected, status: 'declined', decision: { by: 'user', reason: 'no' } } },
  ]);
});

test('a call that failed before it started shows nothing', () => {
  expect(linesOf([call('c'), output('c', { kind: 'failed', text: 'bad arguments' })])).toEqual([]);
});

test('a second attempt belongs to the same item, and a refusal after the start ends it as declined', () => {
  const refused: ToolOutcome = { kind: 'rejected', by: 'sandbox', text: 'no sandbox here' };
  expect(linesOf([call('c'), started('c'), started('c', 2), output('c', refused)])).toMatchObject([
    { type: 'item.started', item: { ...shellItem, status: 'in_progress', exit_code: null } },
    { type: 'item.completed', item: { ...shellItem, status: 'declined', decision: { by: 'sandbox' } } },
  ]);
});

const outcomes: [string, ToolOutcome, Record<string, unknown>][] = [
  [
    'success, output beside the text',
    { kind: 'ok', text: 'header\nout', report: { type: 'command', exitCode: 0, durationMs: 1, output: 'full out' } },
    { aggregated_output: 'full out', exit_code: 0, status: 'completed' },
  ],
  [
    'success, output inside the text',
    { kind: 'ok', text: 'header\nout', report: { type: 'command', exitCode: 0, durationMs: 1, outputAt: 7 } },
    { aggregated_output: 'out', exit_code: 0, status: 'completed' },
  ],
  [
    'a non-zero exit, even of a call that went well',
    { kind: 'ok', text: '', report: { type: 'command', exitCode: 3, durationMs: 1, output: 'x' } },
    { aggregated_output: 'x', exit_code: 3, status: 'failed' },
  ],
  [
    'a start that failed',
    { kind: 'failed', text: 'no such file' },
    { aggregated_output: 'no such file', exit_code: -1, status: 'failed' },
  ],
  [
    'an interrupt',
    { kind: 'aborted', text: 'aborted', report: { type: 'command', exitCode: null, durationMs: 1, output: 'so far' } },
    { aggregated_output: 'so far', exit_code: null, status: 'failed' },
  ],
];
test.each(outcomes)('a command: %s', (_name, outcome, expected) => {
  expect(linesOf([call('c'), started('c'), output('c', outcome)])[1]).toEqual({
    type: 'item.completed',
    item: { ...shellItem, ...expected },
  });
});

test('a command that outlives its call ends when it ends, with everything it wrote', () => {
  const first: ToolOutcome = {
    kind: 'ok',
    text: '',
    report: { type: 'command', exitCode: null, sessionId: 7, durationMs: 1, output: 'one ' },
  };
  const lines = linesOf([
    call('c'),
    started('c'),
    output('c', first),
    { delta: { type: 'command.output', callId: 'c', text: 'two' } },
    { delta: { type: 'session.ended', callId: 'c', sessionId: 7, exitCode: 0 } },
    ended,
  ]);
  expect(lines.map((line) => line.type)).toEqual(['item.started', 'item.completed', 'turn.completed']);
  expect(lines[1]).toMatchObject({
    item: { ...shellItem, aggregated_output: 'one two', exit_code: 0, status: 'completed' },
  });
});

test('input to a running command has no item of its own', () => {
  const view = { type: 'stdin', sessionId: 7, chars: 'y\n' } as const;
  const write: ThreadRecord = { type: 'tool.started', callId: 'c', attempt: 1, sandbox: 'none', view };
  expect(linesOf([call('c', 'write_stdin', {}), write, output('c', { kind: 'ok', text: 'ok' })])).toEqual([]);
});

test('file changes are sorted, and a move is one update of the old path', () => {
  const view = {
    type: 'fileChange',
    changes: [
      { path: '/w/b', kind: 'update', movePath: '/w/c' },
      { path: '/w/a', kind: 'add' },
    ],
  } as const;
  const begun: ThreadRecord = { type: 'tool.started', callId: 'c', attempt: 1, sandbox: 'none', view };
  const changes = [
    { path: '/w/a', kind: 'add' },
    { path: '/w/b', kind: 'update' },
  ];
  expect(linesOf([call('c', 'apply_patch'), begun, output('c', { kind: 'ok', text: 'done' })])).toEqual([
    { type: 'item.started', item: { id: 'item_0', type: 'file_change', changes, status: 'in_progress' } },
    { type: 'item.completed', item: { id: 'item_0', type: 'file_change', changes, status: 'completed' } },
  ]);
});

test('an MCP result keeps its content, and an error result is a failure', () => {
  const view = { type: 'mcp', server: 's', tool: 't', arguments: {} } as const;
  const begun: ThreadRecord = { type: 'tool.started', callId: 'c', attempt: 1, sandbox: 'none', view };
  const content = [{ type: 'text', text: 'it broke' }];
  const outcome: ToolOutcome = {
    kind: 'failed',
    text: 'it broke',
    report: { type: 'mcp', result: { content }, error: null },
  };
  expect(linesOf([call('c', 't'), begun, output('c', outcome)])[1]).toEqual({
    type: 'item.completed',
    item: {
      id: 'item_0',
      type: 'mcp_tool_call',
      server: 's',
      tool: 't',
      arguments: {},
      result: { content, structured_content: null },
      error: null,
      status: 'failed',
    },
  });
});

test('one plan a turn: started, updated, completed just before the end', () => {
  const plan = (status: 'pending' | 'completed'): ToolOutcome => ({
    kind: 'ok',
    text: 'Plan updated',
    report: { type: 'plan', steps: [{ step: 'look', status }] },
  });
  const lines = linesOf([call('a'), output('a', plan('pending')), call('b'), output('b', plan('completed')), ended]);
  expect(lines.map((line) => line.type)).toEqual(['item.started', 'item.updated', 'item.completed', 'turn.completed']);
  expect(lines[2]).toEqual({
    type: 'item.completed',
    item: { id: 'item_0', type: 'todo_list', items: [{ text: 'look', completed: true }] },
  });
});

test('a retry is an error line, and the turn goes on', () => {
  const failed: ThreadRecord = {
    type: 'sampling.ended',
    result: {
      ok: false,
      error: { kind: 'streamCut', message: 'stream cut' },
      willRetry: true,
      retry: 1,
      maxRetries: 2,
    },
  };
  expect(linesOf([failed])).toEqual([{ type: 'error', message: 'Reconnecting... 1/2 (stream cut)' }]);
});

test('a failure is said twice: as an error and as the end of the turn', () => {
  const failed: ThreadRecord = {
    type: 'turn.ended',
    turnId: 't',
    status: 'failed',
    error: { kind: 'badRequest', message: 'bad' },
  };
  expect(linesOf([failed])).toEqual([
    { type: 'error', message: 'bad' },
    { type: 'turn.failed', error: { message: 'bad' } },
  ]);
});

test('an interrupt fails the turn and says who', () => {
  expect(linesOf([{ type: 'turn.ended', turnId: 't', status: 'interrupted', reason: 'user' }])).toEqual([
    { type: 'turn.failed', error: { message: 'the turn was interrupted (user)' } },
  ]);
});

test.each([
  ['a search', { type: 'search', query: 'weather' }, 'weather'],
  ['several searches', { type: 'search', queries: ['a', 'b'] }, 'a ...'],
  ['a page', { type: 'open_page', url: 'https://x' }, 'https://x'],
  ['text in a page', { type: 'find_in_page', url: 'https://x', pattern: 'p' }, "'p' in https://x"],
  ['anything else', { type: 'dance' }, ''],
])('web search: %s, under the id the provider gave', (_name, action, query) => {
  const raw = { type: 'web_search_call', id: 'ws_1', status: 'completed', action };
  const shown = { id: 'ws_1', type: 'web_search', query, action };
  expect(linesOf([item({ type: 'hostedCall', tool: 'web_search', raw })])).toEqual([
    { type: 'item.started', item: shown },
    { type: 'item.completed', item: shown },
  ]);
});

test('what is only for the model or the engine does not show', () => {
  const quiet: ThreadRecord[] = [
    { type: 'sampling.started', attempt: 0 },
    item({ type: 'context', role: 'user', kind: 'environment', text: 'x' }),
    item({ type: 'reasoning', summary: [] }),
    { type: 'hooks.ran', event: 'stop' },
  ];
  expect(linesOf(quiet)).toEqual([]);
});

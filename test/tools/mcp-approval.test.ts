/** MCP calls in a turn: who agrees to them, and what the model and the log are told. */
import { expect, test } from 'vitest';
import type { ReviewDecision, ThreadRecord } from '../../src/protocol/index.js';
import {
  call,
  done,
  response,
  say,
  scriptedModel,
  startTestThread,
  type TestThreadOptions,
  testSettings,
  text,
} from '../../src/testing/index.js';
import { echoServer, mcpHarness } from './mcp-harness.js';

interface Story {
  readonly server?: object;
  readonly settings?: NonNullable<TestThreadOptions['settings']>;
  readonly answers?: readonly ReviewDecision[];
  /** How often the model calls `wipe`, one call per request. */
  readonly calls?: number;
}

/** A turn in which the model calls the server's destructive tool and then says "ok". */
async function wipe({ server = {}, settings = {}, answers, calls = 1 }: Story): Promise<readonly ThreadRecord[]> {
  await using h = mcpHarness({ echo: { ...echoServer, ...server } });
  const requests = Array.from({ length: calls }, (_, i) => response(call('mcp__echo__wipe', {}, `c${i}`), done()));
  const model = scriptedModel([...requests, response(say('ok'), done())]);
  const tools = await h.mcp.tools();
  const t = await startTestThread({ model, tools, settings, ...(answers ? { answers } : {}) });
  await t.thread.submit(text('go'));
  await t.thread.idle();
  return await t.records();
}

const confined = { sandbox: testSettings('/w', { mode: 'read-only' }).sandbox };
const of = <T extends ThreadRecord['type']>(records: readonly ThreadRecord[], type: T) =>
  records.filter((record): record is Extract<ThreadRecord, { type: T }> => record.type === type);
const outcomes = (records: readonly ThreadRecord[]) =>
  of(records, 'item.completed').flatMap(({ item }) => (item.type === 'toolOutput' ? [item.outcome] : []));
const wasWiped = { kind: 'ok', content: [{ type: 'text' }, { type: 'text', text: 'wiped' }] };

test('unattended, a tool that is set to approve runs', async () => {
  const records = await wipe({ server: { tools: { wipe: { approval_mode: 'approve' } } }, settings: confined });
  expect(outcomes(records)).toMatchObject([wasWiped]);
});

test('unattended, any other tool is refused by policy, and the turn goes on', async () => {
  const records = await wipe({ settings: confined });
  expect(outcomes(records)).toMatchObject([
    {
      kind: 'rejected',
      by: 'policy',
      text: expect.stringMatching(/^mcp__echo__wipe rejected: needs approval, none available/),
      decision: { by: 'policy', rule: 'mcp_servers.echo.tools.wipe.approval_mode' },
    },
  ]);
  expect(of(records, 'tool.started')).toEqual([]);
  expect(of(records, 'turn.ended')).toMatchObject([{ status: 'completed' }]);
});

test('with everything allowed, it runs', async () => {
  expect(outcomes(await wipe({}))).toMatchObject([wasWiped]);
});

test('a person’s yes runs it, and the record says that no sandbox holds it', async () => {
  const settings = { ...confined, approvalPolicy: 'on-request' } as const;
  const records = await wipe({ settings, answers: [{ type: 'accept' }] });
  expect(of(records, 'approval.asked')).toMatchObject([
    {
      request: {
        view: { type: 'mcp', server: 'echo', tool: 'wipe', arguments: {} },
        reason: 'tool wipe of MCP server echo says that it can destroy data',
      },
    },
  ]);
  expect(of(records, 'tool.started')).toMatchObject([{ sandbox: 'none', decision: { by: 'user' } }]);
  expect(outcomes(records)).toMatchObject([wasWiped]);
});

test('a person’s no refuses this call, and the turn goes on', async () => {
  const settings = { ...confined, approvalPolicy: 'on-request' } as const;
  const records = await wipe({ settings, answers: [{ type: 'decline' }] });
  expect(outcomes(records)).toMatchObject([{ kind: 'rejected', by: 'user' }]);
  expect(of(records, 'turn.ended')).toMatchObject([{ status: 'completed' }]);
});

test('an answer for the session holds for the tool', async () => {
  const settings = { ...confined, approvalPolicy: 'on-request' } as const;
  const records = await wipe({ settings, answers: [{ type: 'acceptForSession' }], calls: 2 });
  expect(of(records, 'approval.asked')).toHaveLength(1);
  expect(outcomes(records)).toMatchObject([wasWiped, wasWiped]);
});

test('a tool that is set to prompt asks each time and offers no session', async () => {
  const settings = { ...confined, approvalPolicy: 'on-request' } as const;
  const server = { default_tools_approval_mode: 'prompt' };
  const records = await wipe({ server, settings, answers: [{ type: 'accept' }, { type: 'accept' }], calls: 2 });
  const asked = of(records, 'approval.asked');
  expect(asked).toHaveLength(2);
  for (const { request } of asked)
    expect(request.choices.map((choice) => choice.type)).toEqual(['accept', 'decline', 'cancel']);
});

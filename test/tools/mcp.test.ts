/** MCP tools against real servers: results, failures, limits, endings. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Interrupted } from '../../src/protocol/index.js';
import { testSettings } from '../../src/testing/index.js';
import { echoServer, mcpHarness, oddServer, toolText } from './mcp-harness.js';

const HEAD = expect.stringMatching(/^Wall time: \d+\.\d{4} seconds\nOutput:$/);

test('an answer is the wall time and what the tool sent, part by part', async () => {
  await using h = mcpHarness({ echo: echoServer });
  expect(await h.run('mcp__echo__echo', { text: 'hi' })).toEqual({
    kind: 'ok',
    text: expect.stringMatching(/^Wall time: \d+\.\d{4} seconds\nOutput:\nhi$/),
    content: [
      { type: 'text', text: HEAD },
      { type: 'text', text: 'hi' },
    ],
    report: {
      type: 'mcp',
      result: { content: [{ type: 'text', text: 'hi' }], structuredContent: null },
      error: null,
    },
  });
});

test('an error of the tool has the same layout and counts as failed', async () => {
  await using h = mcpHarness({ echo: echoServer });
  const outcome = await h.run('mcp__echo__fail');
  expect(outcome).toMatchObject({ kind: 'failed', content: [{ text: HEAD }, { type: 'text', text: 'it broke' }] });
  expect(outcome.report).toMatchObject({ result: { content: [{ text: 'it broke' }] }, error: null });
});

test('structured content replaces the list, as one text', async () => {
  await using h = mcpHarness({ echo: echoServer });
  const outcome = await h.run('mcp__echo__add', { a: 2, b: 3 });
  expect(outcome).not.toHaveProperty('content');
  expect(outcome.text).toMatch(/^Wall time: \d+\.\d{4} seconds\nOutput:\n\{"sum":5\}$/);
  expect(outcome.report).toMatchObject({ result: { structuredContent: { sum: 5 } } });
});

test('images stay images, and what a model cannot take is told as data', async () => {
  await using h = mcpHarness({ odd: oddServer() });
  expect(await h.run('mcp__odd__mixed')).toMatchObject({
    content: [
      { text: HEAD },
      { type: 'text', text: 'a picture:' },
      { type: 'image', url: 'data:image/png;base64,AAAA' },
      { type: 'text', text: expect.stringContaining('"uri":"memo://1"') },
    ],
  });
});

test('a long answer is cut for the model and whole for the client', async () => {
  await using h = mcpHarness({ odd: oddServer() }, { maxOutputTokens: 1000 });
  const outcome = await h.run('mcp__odd__big');
  expect(outcome.text).toContain('…49000 tokens truncated…');
  expect(outcome.text.length).toBeLessThan(4500);
  expect(outcome.report).toMatchObject({ result: { content: [{ text: 'y'.repeat(200_000) }] } });
});

test('arguments that are no JSON object never reach the server', async () => {
  await using h = mcpHarness({ echo: echoServer });
  const tool = await h.tool('mcp__echo__echo');
  expect(() => tool.parse({ kind: 'function', arguments: '[1]' }, {} as never)).toThrow('expected a JSON object');
});

test('an error of the protocol is a failure with the server’s words', async () => {
  await using h = mcpHarness({ odd: oddServer(['--names', 'broken']) });
  const outcome = await h.run('mcp__odd__broken');
  expect(outcome).toMatchObject({ kind: 'failed', report: { type: 'mcp', result: null } });
  expect(outcome.text).toMatch(/^mcp__odd__broken failed: MCP server "odd" answered with an error: .*no tool broken/);
});

test('the model is offered the schema and description of the server', async () => {
  await using h = mcpHarness({ echo: echoServer });
  expect((await h.tool('mcp__echo__echo')).spec).toEqual({
    name: 'mcp__echo__echo',
    description: 'echo tool',
    kind: {
      type: 'function',
      parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    },
  });
});

test('a server that dies fails the call and says why; the next call starts it again', async () => {
  await using h = mcpHarness({ odd: oddServer() });
  const before = toolText(await h.run('mcp__odd__pid'));
  const death = await h.run('mcp__odd__die');
  expect(death).toMatchObject({ kind: 'failed', report: { type: 'mcp', result: null } });
  expect(death.text).toContain('mcp__odd__die failed: MCP server "odd" ended before it answered');
  expect(death.text).toContain('exited with status 7');
  expect(death.text).toContain('no space left on device');
  const after = await h.run('mcp__odd__pid');
  expect(after.kind).toBe('ok');
  expect(toolText(after)).not.toBe(before);
});

test('calls that find the server dead share one new start', async () => {
  await using h = mcpHarness({ odd: oddServer() });
  await h.run('mcp__odd__die');
  const pids = await Promise.all([1, 2, 3].map(() => h.run('mcp__odd__pid')));
  expect(new Set(pids.map(toolText)).size).toBe(1);
});

test('a slow tool is given up after its time, and the server is told', async () => {
  await using h = mcpHarness({ odd: oddServer([], { tool_timeout_sec: 0.5 }) });
  const outcome = await h.run('mcp__odd__hang');
  expect(outcome).toMatchObject({ kind: 'failed', timedOut: true });
  expect(outcome.text).toContain('did not answer within 0.5 s');
  expect(JSON.parse(toolText(await h.run('mcp__odd__seen')))).toContain('notifications/cancelled');
});

test('an interrupt ends the call at once, and the server is told', async () => {
  await using h = mcpHarness({ odd: oddServer() });
  const stop = new AbortController();
  const running = h.run('mcp__odd__hang', {}, { signal: stop.signal });
  await h.run('mcp__odd__pid'); // answered after the call above has arrived
  stop.abort(new Interrupted('user'));
  const outcome = await running;
  expect(outcome).toMatchObject({ kind: 'aborted', report: { type: 'mcp', result: null } });
  expect(outcome.text).toMatch(/^Wall time: \d+\.\d seconds\naborted by user/);
  expect(JSON.parse(toolText(await h.run('mcp__odd__seen')))).toContain('notifications/cancelled');
});

test('a server may flood its error output', async () => {
  await using h = mcpHarness({ odd: oddServer() });
  expect(toolText(await h.run('mcp__odd__flood'))).toBe('flooded');
  expect((await h.run('mcp__odd__pid')).kind).toBe('ok');
});

test('what is no message on standard output is skipped', async () => {
  await using h = mcpHarness({ odd: oddServer(['--banner']) });
  expect((await h.run('mcp__odd__pid')).kind).toBe('ok');
});

test('strange names become usable ones, each its own', async () => {
  const long = 'n'.repeat(80);
  await using h = mcpHarness({ 'my server': oddServer(['--names', `a.b,a_b,a b,${long}1,${long}2`]) });
  const names = (await h.names()).filter((name) => name.startsWith('mcp__'));
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  expect(toolText(await h.run('mcp__my_server__a_b'))).toBe('called a_b'); // not a look-alike
  const alike = names.filter((name) => name.startsWith('mcp__my_server__a_b_'));
  expect(alike).toHaveLength(2);
  const called = await Promise.all(alike.map(async (name) => toolText(await h.run(name))));
  expect(called.sort()).toEqual(['called a b', 'called a.b']);
  const cut = names.filter((name) => name.startsWith('mcp__my_server__nnn'));
  const calledLong = await Promise.all(cut.map(async (name) => toolText(await h.run(name))));
  expect(calledLong.sort()).toEqual([`called ${long}1`, `called ${long}2`]);
});

test('a client sees the server and tool as configured and named by the server', async () => {
  await using h = mcpHarness({ 'my server': oddServer(['--names', 'a.b']) });
  const tool = await h.tool('mcp__my_server__a_b');
  expect(tool.view({ x: 1 }, {} as never)).toEqual({
    type: 'mcp',
    server: 'my server',
    tool: 'a.b',
    arguments: { x: 1 },
  });
});

test('enabled_tools and disabled_tools decide what is offered; an unknown name is reported', async () => {
  await using h = mcpHarness({
    one: { ...echoServer, enabled_tools: ['echo', 'nope'] },
    two: { ...echoServer, disabled_tools: ['wipe', 'fail'] },
    off: { ...echoServer, enabled: false },
  });
  expect((await h.names()).filter((name) => name.startsWith('mcp__'))).toEqual([
    'mcp__one__echo',
    'mcp__two__add',
    'mcp__two__echo',
  ]);
  expect(h.mcp.warnings()).toEqual([expect.stringContaining('"one" has no tool `nope`')]);
});

test('a changed tool list is seen by the next look', async () => {
  await using h = mcpHarness({ odd: oddServer() });
  expect(await h.names()).not.toContain('mcp__odd__grown');
  await h.run('mcp__odd__grow');
  await h.run('mcp__odd__pid'); // the new list was asked for before this
  expect(await h.names()).toContain('mcp__odd__grown');
});

test('a server gets a core environment and what is named, not our secrets', async () => {
  const env = { PATH: process.env['PATH'], HOME: '/h', LANG: 'C', MY_API_KEY: 'k1', OPENAI_API_KEY: 'k2', PASSED: 'p' };
  const server = oddServer([], { env: { GIVEN: 'g' }, env_vars: ['PASSED', 'ABSENT'] });
  await using h = mcpHarness({ odd: server }, { env });
  const seen = JSON.parse(toolText(await h.run('mcp__odd__env'))) as Record<string, string>;
  expect(seen).toMatchObject({ HOME: '/h', LANG: 'C', GIVEN: 'g', PASSED: 'p' });
  for (const name of ['MY_API_KEY', 'OPENAI_API_KEY', 'ABSENT']) expect(seen).not.toHaveProperty(name);
});

test('a server runs in its directory', async () => {
  await using h = mcpHarness({ odd: oddServer([], { cwd: 'fixtures' }) });
  expect(toolText(await h.run('mcp__odd__cwd'))).toMatch(/test\/tools\/fixtures$/);
});

test('disposing ends the servers and what they started', async () => {
  const h = mcpHarness({ odd: oddServer() });
  const server = Number(toolText(await h.run('mcp__odd__pid')));
  const child = Number(toolText(await h.run('mcp__odd__child')));
  expect([isRunning(server), isRunning(child)]).toEqual([true, true]);
  await h[Symbol.asyncDispose]();
  expect([isRunning(server), isRunning(child)]).toEqual([false, false]);
});

test('disposing does not wait for a server that is still starting', async () => {
  const h = mcpHarness({ odd: oddServer(['--silent'], { startup_timeout_sec: 3600 }) }, { waitMs: 0 });
  expect(await h.names()).toEqual(['list_mcp_resources', 'list_mcp_resource_templates', 'read_mcp_resource']);
  await h[Symbol.asyncDispose]();
});

test('a server that does not come up is a warning; the others work', async () => {
  await using h = mcpHarness({
    missing: { command: 'no-such-program-here' },
    nowhere: { ...echoServer, cwd: 'no-such-directory' },
    dying: { command: 'sh', args: ['-c', 'echo bad config >&2; exit 3'] },
    silent: oddServer(['--silent'], { startup_timeout_sec: 0.5 }),
    echo: echoServer,
  });
  expect((await h.run('mcp__echo__echo', { text: 'x' })).kind).toBe('ok');
  expect(h.mcp.warnings()).toEqual([
    'MCP server "missing" is not available: its program "no-such-program-here" was not found',
    expect.stringMatching(
      /^MCP server "nowhere" is not available: its directory ".*no-such-directory" cannot be entered/,
    ),
    'MCP server "dying" is not available: it exited with status 3; the end of its error output:\nbad config',
    'MCP server "silent" is not available: it did not start within 0.5 s (startup_timeout_sec)',
  ]);
});

test('a required server that does not come up is an error', async () => {
  await using h = mcpHarness({ db: { command: 'no-such-program-here', required: true }, echo: echoServer });
  await expect(h.mcp.tools()).rejects.toMatchObject({
    code: 'TW_MCP_SERVER',
    message: expect.stringMatching(/^MCP server "db" is required and cannot be used: its program .* was not found/),
  });
});

test('without servers nothing is offered', async () => {
  await using h = mcpHarness({});
  expect(await h.names()).toEqual([]);
});

test('parallel calls are allowed per server', async () => {
  await using h = mcpHarness({ one: echoServer, many: { ...echoServer, supports_parallel_tool_calls: true } });
  expect((await h.tool('mcp__one__echo')).gateGroup).toBeNull();
  expect((await h.tool('mcp__many__echo')).gateGroup).toBe('shared');
});

test('a person is asked what a server wants to know, and the clock stands still', async () => {
  const asked: unknown[] = [];
  const elicit = async (question: object) => {
    asked.push(question);
    await h.run('mcp__odd__hang'); // takes the whole time a call has
    return { action: 'accept', content: { sure: true } } as const;
  };
  await using h = mcpHarness({ odd: oddServer([], { tool_timeout_sec: 1 }) }, { elicit });
  const settings = testSettings('/w', { approvalPolicy: 'on-request' });
  const outcome = await h.run('mcp__odd__ask', {}, { settings });
  expect(JSON.parse(toolText(outcome))).toEqual({ action: 'accept', content: { sure: true } });
  expect(asked).toEqual([
    {
      server: 'odd',
      requestId: 'ask-0',
      message: 'are you sure?',
      ask: { mode: 'form', requestedSchema: { type: 'object', properties: { sure: { type: 'boolean' } } } },
      call: { threadId: 'thread_1', turnId: 'turn_1', callId: 'call_1' },
    },
  ]);
});

const accept = async () => ({ action: 'accept', content: {} }) as const;
const broken = async () => {
  throw new Error('method not found');
};
const granular = {
  granular: {
    sandbox_approval: true,
    rules: true,
    mcp_elicitations: false,
    request_permissions: true,
    skill_approval: true,
  },
};

test.each([
  ['nobody is attached', undefined, 'on-request'],
  ['the policy is never', accept, 'never'],
  ['the policy excludes it', accept, granular],
  ['the client cannot', broken, 'on-request'],
] as const)('a question is declined when %s; the call goes on', async (_why, elicit, approvalPolicy) => {
  await using h = mcpHarness({ odd: oddServer() }, elicit ? { elicit } : {});
  const outcome = await h.run('mcp__odd__ask', {}, { settings: testSettings('/w', { approvalPolicy }) });
  expect(outcome.kind).toBe('ok');
  expect(JSON.parse(toolText(outcome))).toEqual({ action: 'decline' });
});

test('a page to open is asked for as such', async () => {
  const asked: object[] = [];
  const elicit = async (question: object) => {
    asked.push(question);
    return { action: 'cancel' } as const;
  };
  await using h = mcpHarness({ odd: oddServer() }, { elicit });
  const settings = testSettings('/w', { approvalPolicy: 'on-request' });
  await h.run('mcp__odd__ask', { url: 'https://example.test/in' }, { settings });
  expect(asked).toMatchObject([{ message: 'log in', ask: { mode: 'url', url: 'https://example.test/in' } }]);
});

test('resources are listed over all servers and read from one', async () => {
  await using h = mcpHarness({ odd: oddServer(), echo: echoServer });
  expect(JSON.parse((await h.run('list_mcp_resources')).text)).toEqual({
    resources: [
      { server: 'odd', uri: 'memo://1', name: 'one' },
      { server: 'odd', uri: 'memo://2', name: 'two' },
    ],
  });
  expect(JSON.parse((await h.run('list_mcp_resources', { server: 'odd', cursor: 'page2' })).text)).toEqual({
    server: 'odd',
    resources: [{ server: 'odd', uri: 'memo://2', name: 'two' }],
  });
  expect(JSON.parse((await h.run('list_mcp_resource_templates', { server: 'odd' })).text)).toMatchObject({
    resourceTemplates: [{ server: 'odd', uriTemplate: 'memo://{id}' }],
  });
  expect(JSON.parse((await h.run('read_mcp_resource', { server: 'odd', uri: 'memo://2' })).text)).toEqual({
    server: 'odd',
    uri: 'memo://2',
    contents: [{ uri: 'memo://2', mimeType: 'text/plain', text: 'memo memo://2' }],
  });
});

test.each([
  ['list_mcp_resources', { cursor: 'x' }, '`cursor` continues the list of one server'],
  ['list_mcp_resources', { server: 'nope' }, 'no MCP server "nope" is running; known: odd'],
  ['read_mcp_resource', { server: 'odd' }, 'missing field `uri`'],
])('%s with %j tells the model what is wrong', async (name, args, message) => {
  await using h = mcpHarness({ odd: oddServer() });
  await expect(h.run(name, args)).rejects.toThrow(message);
});

/** Neither gone nor a zombie that nobody has collected. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = `/proc/${pid}/stat`;
  return !existsSync(stat) || !/\) [ZX] /.test(readFileSync(stat, 'latin1'));
}

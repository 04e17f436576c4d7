/** Every message of real sessions fits the published schema of the protocol. */
import { beforeAll, expect, test } from 'vitest';
import { startClient } from './app-server-support.js';
import { requireBuild, serve } from './exec-support.js';

beforeAll(requireBuild);

const PATCH = '*** Begin Patch\n*** Add File: new.txt\n+hello\n*** End Patch\n';

test('commands, patches, plans, images, questions, failures and retries: all messages fit the schema', async () => {
  await using model = await serve(
    {
      events: [
        { reasoning: 'thinking' },
        { call: 'exec_command', args: { cmd: 'cat seen.txt | head -3' }, id: 'c1' },
        { done: true },
      ],
    },
    { events: [{ text: 'patching' }, { custom: 'apply_patch', input: PATCH, id: 'c2' }, { done: true }] },
    {
      events: [
        { call: 'update_plan', args: { plan: [{ step: 'one', status: 'in_progress' }] }, id: 'c3' },
        { call: 'exec_command', args: { cmd: 'exit 3' }, id: 'c4' },
        { call: 'nonsense', args: {}, id: 'c5' },
        { call: 'view_image', args: { path: 'missing.png' }, id: 'c6' },
        { done: true },
      ],
    },
    {
      events: [
        {
          call: 'request_user_input',
          args: {
            questions: [
              { id: 'q', header: 'H', question: 'Which?', options: [{ label: 'a', description: 'the first' }] },
            ],
          },
          id: 'c7',
        },
        { done: true },
      ],
    },
    { events: [{ text: 'done' }, { done: true }] },
    { status: 400, body: { error: { message: 'no' } } },
  );
  await using client = await startClient(model, { files: { 'seen.txt': 'seen\n' } });
  const { thread } = await client.call('thread/start', { sandbox: 'danger-full-access', approvalPolicy: 'untrusted' });
  await client.call('turn/start', { threadId: thread.id, input: [{ type: 'text', text: 'go' }] });
  const answered = new Set<number>();
  for (;;) {
    const next = await client.message(
      (one) =>
        (one.id !== undefined && one.method !== undefined && !answered.has(one.id)) || one.method === 'turn/completed',
    );
    if (next.method === 'turn/completed') break;
    answered.add(next.id!);
    const result =
      next.method === 'item/tool/requestUserInput' ? { answers: { q: { answers: ['a'] } } } : { decision: 'accept' };
    client.send({ id: next.id, result });
  }
  const from = client.messages.length;
  await client.call('turn/start', { threadId: thread.id, input: [{ type: 'text', text: 'again' }] });
  const failed = await client.notification('turn/completed', from);
  expect(failed.params.turn.status).toBe('failed');
  expect(client.complaints).toEqual([]);
});

test.each([
  ['a search', { type: 'search', query: 'q' }, { type: 'search', query: 'q' }],
  ['a page that is opened', { type: 'open_page', url: 'https://x' }, { type: 'openPage', url: 'https://x' }],
  ['something newer', { type: 'dance' }, { type: 'other' }],
])('web searches of the provider fit the schema: %s', async (_name, action, wire) => {
  const item = { type: 'web_search_call', id: 'ws_1', status: 'completed', action };
  await using model = await serve({
    events: [{ raw: { type: 'response.output_item.done', item } }, { text: 'found' }, { done: true }],
  });
  await using client = await startClient(model);
  const { thread } = await client.call('thread/start');
  await client.call('turn/start', { threadId: thread.id, input: [{ type: 'text', text: 'go' }] });
  await client.notification('turn/completed');
  const done = client.messages.filter((one) => one.method === 'item/completed').map((one) => one.params.item);
  expect(done.find((one) => one.type === 'webSearch')).toMatchObject({ action: wire });
  expect(client.complaints).toEqual([]);
});

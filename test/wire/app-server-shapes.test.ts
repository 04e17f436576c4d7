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

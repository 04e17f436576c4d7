import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Item, ToolCallItem } from '../protocol/index.js';
import { testSettings } from '../testing/settings.js';
import { readAgentsMd } from './agents-md.js';
import { pairHistory } from './pair-history.js';
import { prepareContext } from './prepare.js';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'tw-context-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function tree(name: string, files: Record<string, string>): Promise<string> {
  const base = path.join(root, name);
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(base, file)), { recursive: true });
    await writeFile(path.join(base, file), text);
  }
  return base;
}

describe('AGENTS.md', () => {
  const options = { userFolders: [], rootMarkers: ['.git'], fallbackNames: [], maxBytes: 32_768 };

  test('from the project root down to the working directory; the user’s first; nothing above the root', async () => {
    const base = await tree('a', {
      'AGENTS.md': 'above',
      'p/.git/HEAD': '',
      'p/AGENTS.md': 'top',
      'p/x/AGENTS.md': 'skipped',
      'p/x/AGENTS.override.md': 'inner',
      'home/AGENTS.md': 'mine',
    });
    const found = await readAgentsMd({
      ...options,
      userFolders: [path.join(base, 'nowhere'), path.join(base, 'home')],
      cwd: path.join(base, 'p/x'),
    });
    expect(found.sources.map((file) => path.relative(base, file))).toEqual([
      'home/AGENTS.md',
      'p/AGENTS.md',
      'p/x/AGENTS.override.md',
    ]);
    expect(found.text).toMatch(/mine[\s\S]*top[\s\S]*inner/);
  });

  test('without a root marker only the working directory counts', async () => {
    const base = await tree('b', { 'AGENTS.md': 'above', 'x/AGENTS.md': 'here' });
    const found = await readAgentsMd({ ...options, rootMarkers: ['.no-such-marker'], cwd: path.join(base, 'x') });
    expect(found.sources).toEqual([path.join(base, 'x/AGENTS.md')]);
  });

  test('is cut at the limit, with a warning; 0 turns it off', async () => {
    const base = await tree('c', { '.git/HEAD': '', 'AGENTS.md': 'x'.repeat(100) });
    const cut = await readAgentsMd({ ...options, maxBytes: 10, cwd: base });
    expect(cut.text).toContain(`\n${'x'.repeat(10)}\n`);
    expect(cut.warnings).toHaveLength(1);
    expect((await readAgentsMd({ ...options, maxBytes: 0, cwd: base })).text).toBeUndefined();
  });

  test('a fallback name is used when there is no AGENTS.md', async () => {
    const base = await tree('d', { '.git/HEAD': '', 'CLAUDE.md': 'other' });
    expect((await readAgentsMd({ ...options, fallbackNames: ['CLAUDE.md'], cwd: base })).text).toContain('other');
  });
});

describe('context of a turn', () => {
  const options = {
    shell: 'bash',
    agentsMd: { userFolders: [], rootMarkers: ['.git'], fallbackNames: [], maxBytes: 0 },
  };
  const asItems = (messages: readonly { role: 'developer' | 'user'; kind: string; text: string }[]): Item[] =>
    messages.map((m, i) => ({ type: 'context', id: `c${i}`, ...m }) as Item);
  const now = Date.UTC(2026, 0, 15, 12);

  test('everything at first, then only what changed, appended', async () => {
    const settings = testSettings('/w');
    const first = await prepareContext([], settings, options, now);
    expect(first.messages.map((m) => m.kind)).toEqual(['instructions', 'permissions', 'environment']);
    const history = asItems(first.messages);
    expect((await prepareContext(history, settings, options, now)).messages).toEqual([]);
    const moved = await prepareContext(history, { ...settings, cwd: '/other' }, options, now);
    expect(moved.messages.map((m) => m.kind)).toEqual(['environment']);
    const policy = await prepareContext(history, { ...settings, approvalPolicy: 'on-request' }, options, now);
    expect(policy.messages.map((m) => m.kind)).toEqual(['permissions']);
    expect(
      (await prepareContext(history, settings, { ...options, instructions: 'a newer release' }, now)).messages,
    ).toEqual([]);
  });
});

describe('pairing', () => {
  const call = (callId: string, kind: 'function' | 'custom' = 'function'): ToolCallItem => ({
    type: 'toolCall',
    id: `call_${callId}`,
    callId,
    tool: 'x',
    payload: kind === 'function' ? { kind, arguments: '{}' } : { kind, input: '' },
  });
  const output = (callId: string, id = `out_${callId}`): Item => ({
    type: 'toolOutput',
    id,
    callId,
    payloadKind: 'function',
    outcome: { kind: 'ok', text: 'o' },
  });
  const user = (id: string): Item => ({ type: 'userMessage', id, content: [] });

  test('a whole history is left alone', () => {
    const items = [user('u'), call('a'), call('b'), output('a'), output('b'), call('a'), output('a', 'again')];
    expect(pairHistory(items, 'closed')).toEqual({ items, closed: [], dropped: [] });
  });

  test('a call without output is closed right behind it, with an id of its own that never changes', () => {
    const items = [user('u'), call('a', 'custom'), user('v')];
    const once = pairHistory(items, 'closed');
    expect(once.items).toEqual([
      user('u'),
      call('a', 'custom'),
      {
        type: 'toolOutput',
        id: 'ctco_call_a',
        callId: 'a',
        payloadKind: 'custom',
        outcome: { kind: 'aborted', text: 'closed' },
      },
      user('v'),
    ]);
    expect(pairHistory(once.items, 'closed').items).toEqual(once.items);
  });

  test('an output without call is left out', () => {
    expect(pairHistory([output('a'), user('u')], 'closed')).toMatchObject({
      items: [user('u')],
      dropped: [output('a')],
    });
  });
});

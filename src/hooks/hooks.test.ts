import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type HookAnswer, readAnswer } from './answer.js';
import { compileMatcher, type HookEvent, readHooks } from './config.js';
import { Hooks } from './hooks.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tw-hooks-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const one = (event: HookEvent, command: string, more: Record<string, unknown> = {}, matcher?: string) => ({
  [event]: [{ ...(matcher === undefined ? {} : { matcher }), hooks: [{ type: 'command', command, ...more }] }],
});
const source = (hooks: unknown) => [{ path: '/h/hooks.json', hooks }];

describe('configuration', () => {
  test.each([
    ['', 'anything', true],
    ['*', 'anything', true],
    ['Bash', 'Bash', true],
    ['Bash', 'BashOutput', false],
    ['Bash|apply_patch', 'apply_patch', true],
    ['mcp__.*', 'mcp__echo__say', true],
    ['^Ba', 'Bash', true],
    ['sh$', 'Bash', true],
  ])('matcher %j on %s: %s', (matcher, name, expected) => {
    expect(compileMatcher(matcher)?.(name)).toBe(expected);
  });

  test('an invalid matcher, an unknown event and an unknown type are skipped with a warning', () => {
    const set = readHooks(
      source({ ...one('PreToolUse', 'x', {}, '['), Nope: [], Stop: [{ hooks: [{ type: 'prompt', prompt: 'x' }] }] }),
      {},
    );
    expect(set.handlers).toEqual([]);
    expect(set.warnings).toEqual([
      '/h/hooks.json: the matcher "[" of PreToolUse is no valid pattern; its hooks are skipped',
      '/h/hooks.json: unknown hook event `Nope`; it is ignored',
      '/h/hooks.json: Stop hook 1.1 has type "prompt"; only "command" with a command text is run',
    ]);
  });

  test('trust is bound to what the hook does', () => {
    const [untrusted] = readHooks(source(one('Stop', 'true')), {}).handlers;
    expect(untrusted).toMatchObject({
      status: 'untrusted',
      key: '/h/hooks.json:stop:0:0',
      timeoutMs: 600_000,
      onError: 'block',
    });
    const trust = { [untrusted!.key]: { trusted_hash: untrusted!.hash } };
    expect(readHooks(source(one('Stop', 'true')), trust).handlers[0]).toMatchObject({ status: 'trusted' });
    expect(readHooks(source(one('Stop', 'false')), trust).handlers[0]).toMatchObject({ status: 'modified' });
    expect(readHooks(source(one('Stop', 'true')), { [untrusted!.key]: { enabled: false } }).handlers[0]).toMatchObject({
      status: 'disabled',
    });
  });
});

describe('answers', () => {
  const answer = (event: HookEvent, exitCode: number | null, stdout = '', stderr = ''): HookAnswer => {
    const [handler] = readHooks(source(one(event, 'cmd')), {}).handlers;
    return readAnswer({ handler: handler!, exitCode, stdout, stderr });
  };
  const json = (value: unknown) => JSON.stringify(value);

  test.each<[string, HookEvent, number | null, string, string, HookAnswer]>([
    ['silence is no opinion', 'PreToolUse', 0, '', '', {}],
    ['exit 2 blocks with its stderr', 'PreToolUse', 2, '', 'no thanks\n', { block: 'no thanks' }],
    [
      'exit 2 without a reason is a failure',
      'Stop',
      2,
      '',
      '',
      { error: 'hook `cmd` exited with 2 and no reason on stderr' },
    ],
    ['another exit is a failure', 'PreToolUse', 7, '', 'x', { error: 'hook `cmd` exited with 7' }],
    ['plain text is context at the start of a session', 'SessionStart', 0, 'be brief\n', '', { context: 'be brief' }],
    ['plain text is ignored around tools', 'PostToolUse', 0, 'noise', '', {}],
    [
      'plain text is a failure for Stop',
      'Stop',
      0,
      'noise',
      '',
      { error: 'hook `cmd` printed text that is no JSON object' },
    ],
    ['legacy block', 'UserPromptSubmit', 0, json({ decision: 'block', reason: 'not now' }), '', { block: 'not now' }],
    [
      'deny',
      'PreToolUse',
      0,
      json({
        hookSpecificOutput: {
          hookEventName: 'PreToolUse',
          permissionDecision: 'deny',
          permissionDecisionReason: 'why',
        },
      }),
      '',
      { block: 'why' },
    ],
    [
      'rewrite',
      'PreToolUse',
      0,
      json({ hookSpecificOutput: { permissionDecision: 'allow', updatedInput: { command: 'ls' } } }),
      '',
      { updatedInput: { command: 'ls' } },
    ],
    [
      'allow without rewrite is a failure',
      'PreToolUse',
      0,
      json({ hookSpecificOutput: { permissionDecision: 'allow' } }),
      '',
      { error: 'hook `cmd` allowed without `updatedInput`, which means nothing before a tool' },
    ],
    [
      'permission allow',
      'PermissionRequest',
      0,
      json({ hookSpecificOutput: { decision: { behavior: 'allow' } } }),
      '',
      { allow: true },
    ],
    [
      'permission deny',
      'PermissionRequest',
      0,
      json({ hookSpecificOutput: { decision: { behavior: 'deny', message: 'no' } } }),
      '',
      { block: 'no' },
    ],
    ['continue false', 'PostToolUse', 0, json({ continue: false, stopReason: 'enough' }), '', { stop: 'enough' }],
    [
      'context and message',
      'PostToolUse',
      0,
      json({ systemMessage: 'hi', hookSpecificOutput: { additionalContext: 'ctx' } }),
      '',
      { message: 'hi', context: 'ctx' },
    ],
    ['broken JSON is a failure', 'PreToolUse', 0, '{ nope', '', { error: 'hook `cmd` printed invalid JSON' }],
  ])('%s', (_name, event, exitCode, stdout, stderr, expected) => {
    expect(answer(event, exitCode, stdout, stderr)).toEqual(expected);
  });
});

describe('running', () => {
  const run = (hooks: unknown, event: HookEvent, subjects: string[] = ['Bash']) => {
    const session = { sessionId: 's1', transcriptPath: null, env: process.env, shell: '/bin/sh' };
    const extra = { tool_name: 'Bash', tool_input: { command: 'ls' } };
    return new Hooks(readHooks(source(hooks), {}).handlers, session).run(
      event,
      subjects,
      { cwd: folder, turnId: 't1' },
      extra,
      new AbortController().signal,
    );
  };

  test('gets one JSON object on stdin, in the turn’s folder', async () => {
    await run(one('PreToolUse', 'cat > seen.json'), 'PreToolUse');
    expect(JSON.parse(await readFile(path.join(folder, 'seen.json'), 'utf8'))).toEqual({
      session_id: 's1',
      transcript_path: null,
      cwd: folder,
      hook_event_name: 'PreToolUse',
      turn_id: 't1',
      tool_name: 'Bash',
      tool_input: { command: 'ls' },
    });
  });

  test('a hook that does not match does not run', async () => {
    expect(await run(one('PreToolUse', 'echo no >&2; exit 2', {}, 'apply_patch'), 'PreToolUse')).toEqual({
      contexts: [],
      messages: [],
    });
  });

  test('a gating hook that is missing blocks, unless it says otherwise', async () => {
    expect(await run(one('PreToolUse', 'no-such-program-here'), 'PreToolUse')).toMatchObject({
      block: 'hook `no-such-program-here` exited with 127',
    });
    expect(
      await run(one('PreToolUse', 'no-such-program-here', { on_error: 'allow' }), 'PreToolUse'),
    ).not.toHaveProperty('block');
    expect(await run(one('PostToolUse', 'no-such-program-here'), 'PostToolUse')).not.toHaveProperty('block');
  });

  test('one that takes too long is killed with all it started', async () => {
    const answer = await run(one('PreToolUse', 'sleep 300 & sleep 300', { timeout: 1 }), 'PreToolUse');
    expect(answer.block).toBe('hook `sleep 300 & sleep 300` took longer than 1 s');
  });

  test('several answers: any deny wins over an allow', async () => {
    const hooks = {
      PermissionRequest: [
        {
          hooks: [
            { type: 'command', command: `echo '{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}'` },
            { type: 'command', command: 'echo never >&2; exit 2' },
          ],
        },
      ],
    };
    expect(await run(hooks, 'PermissionRequest')).toMatchObject({
      block: 'never',
      blockedBy: 'permissionrequest:1:/h/hooks.json',
    });
    expect(await run(hooks, 'PermissionRequest')).not.toHaveProperty('allow');
  });
});

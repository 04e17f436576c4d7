import { describe, expect, test } from 'vitest';
import { parseExecArgs, parseStdinArgs } from './exec-args.js';

const defaults = { cwd: '/srv', shell: { path: '/bin/bash', name: 'bash' }, allowLoginShell: true };
const payload = (args: unknown) => ({ kind: 'function' as const, arguments: JSON.stringify(args) });
const parse = (args: unknown, change: Partial<typeof defaults> = {}) =>
  parseExecArgs(payload(args), { ...defaults, ...change });

describe('exec_command', () => {
  test('defaults', () => {
    expect(parse({ cmd: 'ls' })).toEqual({
      script: 'ls',
      shell: defaults.shell,
      argv: ['/bin/bash', '-lc', 'ls'],
      cwd: '/srv',
      tty: false,
      yieldMs: 10_000,
      maxOutputTokens: undefined,
      escalated: false,
      justification: undefined,
      prefixRule: undefined,
    });
  });

  test.each([
    ['no login', { login: false }, {}, { argv: ['/bin/bash', '-c', 'ls'] }],
    ['login shells disabled', {}, { allowLoginShell: false }, { argv: ['/bin/bash', '-c', 'ls'] }],
    [
      'another shell',
      { shell: 'bash' },
      { shell: { path: '/bin/zsh', name: 'zsh' } },
      { argv: ['/bin/bash', '-lc', 'ls'] },
    ],
    ['a relative directory', { workdir: 'sub/../other' }, {}, { cwd: '/srv/other' }],
    ['an absolute directory', { workdir: '/etc' }, {}, { cwd: '/etc' }],
    ['an empty directory', { workdir: '' }, {}, { cwd: '/srv' }],
    ['a short wait', { yield_time_ms: 1 }, {}, { yieldMs: 250 }],
    ['a long wait', { yield_time_ms: 1e9 }, {}, { yieldMs: 30_000 }],
    ['null means absent', { workdir: null, tty: null, prefix_rule: null }, {}, { cwd: '/srv', tty: false }],
    [
      'escalation',
      { sandbox_permissions: 'require_escalated', justification: 'why', prefix_rule: ['a'] },
      {},
      { escalated: true, justification: 'why', prefixRule: ['a'] },
    ],
    ['unknown fields are ignored', { colour: 'red' }, {}, { script: 'ls' }],
  ])('%s', (_name, args, change, expected) => {
    expect(parse({ cmd: 'ls', ...args }, change)).toMatchObject(expected);
  });

  test.each([
    ['no command', {}, 'failed to parse function arguments: missing field `cmd`'],
    ['a command that is no text', { cmd: 1 }, 'failed to parse function arguments: `cmd` must be a string'],
    ['a flag that is none', { cmd: 'ls', tty: 'yes' }, 'failed to parse function arguments: `tty` must be a boolean'],
    ['a NUL', { cmd: 'a\0b' }, 'holds a NUL character'],
    ['a reason for nothing', { cmd: 'ls', justification: 'please' }, '`justification` needs `sandbox_permissions`'],
    ['unknown permissions', { cmd: 'ls', sandbox_permissions: 'all' }, 'unknown variant `all`'],
  ])('refuses %s', (_name, args, message) => {
    expect(() => parse(args)).toThrow(message);
  });

  test('refuses a login shell where those are disabled', () => {
    expect(() => parse({ cmd: 'ls', login: true }, { allowLoginShell: false })).toThrow('login shells are disabled');
  });

  test('says that arguments are no JSON', () => {
    expect(() => parseExecArgs({ kind: 'function', arguments: '{"cmd": "echo' }, defaults)).toThrow(
      'failed to parse function arguments',
    );
  });
});

describe('write_stdin', () => {
  test.each([
    ['a poll waits longer', { session_id: 5 }, { sessionId: 5, chars: '', yieldMs: 5000 }],
    ['a poll may wait very long', { session_id: 5, yield_time_ms: 1e9 }, { yieldMs: 300_000 }],
    ['a write waits a moment', { session_id: 5, chars: 'x' }, { chars: 'x', yieldMs: 250 }],
    [
      'a write waits at most as long as a command',
      { session_id: 5, chars: 'x', yield_time_ms: 1e9 },
      { yieldMs: 30_000 },
    ],
  ])('%s', (_name, args, expected) => {
    expect(parseStdinArgs(payload(args), 300_000)).toMatchObject(expected);
  });

  test('needs a session', () => {
    expect(() => parseStdinArgs(payload({}), 300_000)).toThrow('missing field `session_id`');
  });
});

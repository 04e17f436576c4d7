import { expect, test } from 'vitest';
import { execAliases } from './aliases.js';

const convert = (args: unknown) => {
  const payload = execAliases[0]!.convert({ kind: 'function', arguments: JSON.stringify(args) });
  return payload.kind === 'function' ? JSON.parse(payload.arguments) : undefined;
};

test.each([
  ['a shell argv is its script', { command: ['bash', '-lc', 'ls | wc'] }, { cmd: 'ls | wc', shell: 'bash' }],
  ['without login', { command: ['/bin/sh', '-c', 'ls'] }, { cmd: 'ls', shell: '/bin/sh', login: false }],
  ['another argv is quoted', { command: ['echo', "it's", '$x', ''] }, { cmd: `echo 'it'\\''s' '$x' ''`, login: false }],
  ['a text is a script', { command: 'ls', workdir: 'a' }, { cmd: 'ls', workdir: 'a' }],
  ['a timeout is a wait', { command: 'ls', timeout_ms: 500 }, { cmd: 'ls', yield_time_ms: 500 }],
  [
    'escalation',
    { command: 'ls', with_escalated_permissions: true },
    { cmd: 'ls', sandbox_permissions: 'require_escalated' },
  ],
  ['no command', { workdir: 'a' }, { workdir: 'a' }],
])('%s', (_name, args, expected) => {
  expect(convert(args)).toEqual(expected);
});

test('what cannot be read is passed on', () => {
  const payload = { kind: 'function' as const, arguments: '{"command' };
  expect(execAliases[0]!.convert(payload)).toBe(payload);
});

test('the names', () => {
  expect(execAliases.map((alias) => [alias.name, alias.tool])).toEqual([
    ['shell', 'exec_command'],
    ['container.exec', 'exec_command'],
    ['shell_command', 'exec_command'],
  ]);
});

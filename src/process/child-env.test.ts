import { describe, expect, test } from 'vitest';
import { buildChildEnv, callOverlay, type ShellEnvironmentPolicy, secretValues } from './child-env.js';

const DEFAULT: ShellEnvironmentPolicy = {
  inherit: 'all',
  ignoreDefaultExcludes: false,
  exclude: [],
  includeOnly: [],
  set: {},
};
const BASE = {
  HOME: '/home/me',
  PATH: '/bin',
  EDITOR: 'vi',
  MY_SECRET_TOKEN: 'tttttttttt',
  deploy_key: 'kkkkkkkkkk',
  DbPassword: 'pppppppppp',
  AWS_CREDENTIAL_FILE: '/home/me/.aws',
  ACME_PROVIDER: 'aaaaaaaaaa',
  OPENAI_API_KEY: 'oooooooooo',
  GONE: undefined,
};

describe('buildChildEnv', () => {
  const plain = { HOME: '/home/me', PATH: '/bin', EDITOR: 'vi', ACME_PROVIDER: 'aaaaaaaaaa' };
  const secret = {
    MY_SECRET_TOKEN: 'tttttttttt',
    deploy_key: 'kkkkkkkkkk',
    DbPassword: 'pppppppppp',
    AWS_CREDENTIAL_FILE: '/home/me/.aws',
  };
  test.each<[string, Partial<ShellEnvironmentPolicy>, readonly string[], Record<string, string>]>([
    ['by default names that look secret are dropped', {}, [], plain],
    ['they can be kept, but the provider key cannot', { ignoreDefaultExcludes: true }, [], { ...plain, ...secret }],
    [
      'a named provider key is dropped always',
      { ignoreDefaultExcludes: true, set: { ACME_PROVIDER: 'x' } },
      ['ACME_PROVIDER'],
      { HOME: '/home/me', PATH: '/bin', EDITOR: 'vi', ...secret },
    ],
    ['core keeps home and path', { inherit: 'core' }, [], { HOME: '/home/me', PATH: '/bin' }],
    ['none keeps nothing', { inherit: 'none', set: { A: '1' } }, [], { A: '1' }],
    [
      'exclude patterns match in any case',
      { exclude: ['edit*', 'acme_?rovider'] },
      [],
      { HOME: '/home/me', PATH: '/bin' },
    ],
    ['a pattern matches the whole name', { exclude: ['ATH', 'H.ME'] }, [], plain],
    ['set comes after the excludes', { set: { API_KEY: 'mine' } }, [], { ...plain, API_KEY: 'mine' }],
    [
      'include-only comes last',
      { set: { A: '1' }, includeOnly: ['PATH', 'HOM*'] },
      [],
      { HOME: '/home/me', PATH: '/bin' },
    ],
  ])('%s', (_name, policy, keys, expected) => {
    expect(buildChildEnv({ ...DEFAULT, ...policy }, BASE, {}, keys)).toEqual(expected);
  });

  test('the overlay wins over everything', () => {
    expect(buildChildEnv({ ...DEFAULT, includeOnly: ['PATH'] }, BASE, { PATH: '/x', TERM: 'dumb' })).toEqual({
      PATH: '/x',
      TERM: 'dumb',
    });
  });
});

test('the overlay of a call holds the recorded variables', () => {
  expect(callOverlay({ threadId: 't', callId: 'c', version: '1', networkOff: true })).toEqual({
    NO_COLOR: '1',
    TERM: 'dumb',
    LANG: 'C.UTF-8',
    LC_ALL: 'C.UTF-8',
    LC_CTYPE: 'C.UTF-8',
    COLORTERM: '',
    PAGER: 'cat',
    GIT_PAGER: 'cat',
    GH_PAGER: 'cat',
    CODEX_CI: '1',
    CODEX_THREAD_ID: 't',
    CODEX_SESSION_ID: 't',
    CODEX_TOOL_CALL_ID: 'c',
    CODEX_VERSION: '1',
    TURNWRIGHT_THREAD_ID: 't',
    TURNWRIGHT_SESSION_ID: 't',
    TURNWRIGHT_TOOL_CALL_ID: 'c',
    TURNWRIGHT_VERSION: '1',
    CODEX_SANDBOX_NETWORK_DISABLED: '1',
  });
});

test.each<[string, Partial<ShellEnvironmentPolicy>, string[]]>([
  [
    'dropped variables and provider keys are secret, paths are not',
    {},
    ['tttttttttt', 'kkkkkkkkkk', 'pppppppppp', 'aaaaaaaaaa', 'oooooooooo'],
  ],
  ['kept variables are not', { ignoreDefaultExcludes: true }, ['aaaaaaaaaa', 'oooooooooo']],
])('%s', (_name, policy, expected) => {
  expect(secretValues({ ...DEFAULT, ...policy }, BASE, ['ACME_PROVIDER'])).toEqual(expected);
});

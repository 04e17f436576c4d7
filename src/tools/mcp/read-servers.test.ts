import { expect, test } from 'vitest';
import { readMcpServers } from './read-servers.js';

test('a program, with every key', () => {
  const raw = {
    db: {
      command: 'npx',
      args: ['-y', 'db-server'],
      env: { MODE: 'ro' },
      env_vars: ['DB_URL', { name: 'DB_USER', source: 'local' }],
      cwd: 'tools',
      enabled: true,
      required: true,
      startup_timeout_sec: 2.5,
      tool_timeout_sec: 120,
      enabled_tools: ['query'],
      disabled_tools: ['drop'],
      default_tools_approval_mode: 'prompt',
      tools: { query: { approval_mode: 'approve' }, other: {} },
      supports_parallel_tool_calls: true,
    },
  };
  expect(readMcpServers(raw)).toEqual({
    warnings: [],
    servers: [
      {
        name: 'db',
        transport: {
          type: 'stdio',
          argv: ['npx', '-y', 'db-server'],
          env: { MODE: 'ro' },
          envVars: ['DB_URL', 'DB_USER'],
          cwd: 'tools',
        },
        required: true,
        startupTimeoutMs: 2500,
        toolTimeoutMs: 120_000,
        enabledTools: ['query'],
        disabledTools: ['drop'],
        defaultApprovalMode: 'prompt',
        toolApprovalModes: new Map([['query', 'approve']]),
        supportsParallelToolCalls: true,
      },
    ],
  });
});

test('an address, with the defaults', () => {
  const raw = {
    docs: {
      url: 'https://mcp.test/mcp',
      bearer_token_env_var: 'DOCS_TOKEN',
      http_headers: { 'X-A': '1' },
      env_http_headers: { 'X-B': 'B_VAR' },
    },
  };
  expect(readMcpServers(raw).servers).toEqual([
    {
      name: 'docs',
      transport: {
        type: 'http',
        url: 'https://mcp.test/mcp',
        bearerTokenEnvVar: 'DOCS_TOKEN',
        headers: { 'X-A': '1' },
        envHeaders: { 'X-B': 'B_VAR' },
      },
      required: false,
      startupTimeoutMs: 10_000,
      toolTimeoutMs: 60_000,
      disabledTools: [],
      defaultApprovalMode: 'auto',
      toolApprovalModes: new Map(),
      supportsParallelToolCalls: false,
    },
  ]);
});

test.each([
  [undefined, []],
  [{}, []],
  [{ off: { command: 'x', enabled: false } }, []],
  [{ off: { enabled: false } }, []],
])('%j has no servers and nothing to say', (raw, servers) => {
  expect(readMcpServers(raw)).toEqual({ servers, warnings: [] });
});

test.each([
  [{ a: {} }, 'mcp_servers.a has neither `command`'],
  [{ a: { command: '  ' } }, 'mcp_servers.a.command is empty'],
  [{ a: { command: 'x', url: 'http://h' } }, 'mcp_servers.a has both `command` and `url`'],
  [{ a: { url: 'ftp://h' } }, 'mcp_servers.a.url is "ftp://h"; expected an http: or https: address'],
  [{ a: { url: 'not an address' } }, 'mcp_servers.a.url is "not an address"'],
])('%j is left out with a warning, and an error when it is required', (raw, message) => {
  const { servers, warnings } = readMcpServers({ ...raw, b: { command: 'y' } });
  expect(servers.map((server) => server.name)).toEqual(['b']);
  expect(warnings).toEqual([expect.stringContaining(message)]);
  const required = { a: { ...raw.a, required: true } };
  expect(() => readMcpServers(required)).toThrow(expect.objectContaining({ code: 'TW_CONFIG_VALUE' }));
});

test.each([
  [{ a: { comand: 'x', command: 'x' } }, 'unknown configuration field `mcp_servers.a.comand`; did you mean `command`?'],
  [{ a: { url: 'http://h', oauth: {} } }, 'mcp_servers.a.oauth is not supported'],
])('%j works, with a warning', (raw, message) => {
  const { servers, warnings } = readMcpServers(raw);
  expect(servers).toHaveLength(1);
  expect(warnings).toEqual([expect.stringContaining(message)]);
});

test.each([
  ['x', 'mcp_servers is "x"'],
  [{ a: 'x' }, 'mcp_servers.a is "x"'],
  [{ a: { command: 3 } }, 'mcp_servers.a.command is 3; expected a string'],
  [{ a: { command: 'x', args: 'y' } }, 'mcp_servers.a.args is "y"; expected a list of strings'],
  [{ a: { command: 'x', env: { A: 1 } } }, 'mcp_servers.a.env.A is 1; expected a string'],
  [{ a: { command: 'x', env_vars: 'A' } }, 'mcp_servers.a.env_vars is "A"'],
  [{ a: { command: 'x', env_vars: [1] } }, 'mcp_servers.a.env_vars is [1]'],
  [{ a: { command: 'x', required: 'yes' } }, 'mcp_servers.a.required is "yes"; expected true or false'],
  [{ a: { command: 'x', tool_timeout_sec: 0 } }, 'expected a number greater than 0'],
  [{ a: { command: 'x', startup_timeout_sec: '5' } }, 'expected a number greater than 0'],
  [{ a: { command: 'x', default_tools_approval_mode: 'always' } }, 'expected one of auto, prompt, approve'],
  [{ a: { command: 'x', tools: { t: { approval_mode: 'ask' } } } }, 'mcp_servers.a.tools.t.approval_mode is "ask"'],
])('%j is an error that names the key', (raw, message) => {
  expect(() => readMcpServers(raw)).toThrow(expect.objectContaining({ code: 'TW_CONFIG_VALUE' }));
  expect(() => readMcpServers(raw)).toThrow(message);
});

import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { buildSandboxPolicy, loadConfig, originOf } from './index.js';
import type { ConfigRequest } from './load-config.js';

let base: string;
let request: ConfigRequest;

beforeEach(async () => {
  base = await realpath(await mkdtemp(path.join(os.tmpdir(), 'tw-config-')));
  await mkdir(path.join(base, 'project/.git'), { recursive: true });
  request = {
    cwd: path.join(base, 'project'),
    env: { HOME: path.join(base, 'user'), TURNWRIGHT_HOME: path.join(base, 'home') },
    systemFolder: path.join(base, 'etc'),
  };
});
afterEach(() => rm(base, { recursive: true, force: true }));

async function put(file: string, text: string): Promise<string> {
  const full = path.join(base, file);
  await mkdir(path.dirname(full), { recursive: true });
  await writeFile(full, text);
  return full;
}
const trust = () => `[projects."${base}/project"]\ntrust_level = "trusted"\n`;

test('with nothing at all there are defaults', async () => {
  const { config, warnings, project } = await loadConfig(request);
  expect(config).toMatchObject({
    steerDelivery: 'next_step',
    updatePlan: true,
    webSearch: 'disabled',
    approvalsReviewer: 'user',
    shellEnvironment: { inherit: 'all', ignoreDefaultExcludes: false },
    projectDocMaxBytes: 32768,
    backgroundTerminalMaxTimeoutMs: 300000,
  });
  expect(config.model).toBeUndefined();
  expect(warnings).toEqual([]);
  expect(project).toEqual({ root: request.cwd, hasMarker: true, trust: 'unknown' });
});

test('requirements of an administrator are read apart from configuration', async () => {
  const file = await put(
    'etc/turnwright/requirements.toml',
    '[rules]\nprefix_rules = [{ pattern = [{ token = "dd" }], decision = "forbidden" }]\n',
  );
  const { requirements, layers } = await loadConfig(request);
  expect(requirements).toEqual([
    { file, table: { rules: { prefix_rules: [{ pattern: [{ token: 'dd' }], decision: 'forbidden' }] } } },
  ]);
  expect(layers.map((layer) => layer.path)).not.toContain(file);
});

test('layers: flags, overrides, nearest project, outer project, profile, user, system', async () => {
  const line = (n: number) =>
    Array.from({ length: 7 - n }, (_, i) => `model_providers.p.http_headers.k${n + i} = "${n}"`).join('\n');
  await put('etc/codex/config.toml', line(0).replaceAll('"0"', '"system"'));
  await put('home/config.toml', `${line(1).replaceAll('"1"', '"user"')}\n${trust()}`);
  await put('home/work.config.toml', line(2).replaceAll('"2"', '"profile"'));
  await put('project/.codex/config.toml', line(3).replaceAll('"3"', '"outer"'));
  await put('project/inner/.turnwright/config.toml', line(4).replaceAll('"4"', '"nearest"'));
  const { merged, layers } = await loadConfig({
    ...request,
    cwd: path.join(base, 'project/inner'),
    profile: 'work',
    overrides: ['model_providers.p.http_headers.k5=override', 'model_providers.p.http_headers.k6=override'],
    flags: { model_providers: { p: { http_headers: { k6: 'flag' } } } },
  });
  expect(merged.table['model_providers']).toEqual({
    p: {
      http_headers: { k0: 'system', k1: 'user', k2: 'profile', k3: 'outer', k4: 'nearest', k5: 'override', k6: 'flag' },
    },
  });
  expect(layers.map((layer) => layer.name)).toEqual(['flags', 'project', 'project', 'profile', 'user', 'system']);
  expect(originOf(merged, ['model_providers', 'p', 'http_headers', 'k3'])?.path).toBe(
    `${base}/project/.codex/config.toml`,
  );
});

test('an untrusted project file is listed but neither read nor parsed', async () => {
  await put('project/.codex/config.toml', 'this is not [toml');
  const { layers, config } = await loadConfig(request);
  expect(layers.find((layer) => layer.name === 'project')?.disabledReason).toContain('not trusted');
  expect(config.model).toBeUndefined();
});

test('a project cannot trust itself or choose a profile', async () => {
  await put('home/config.toml', trust());
  await put('project/.codex/config.toml', 'profile = "x"\n[projects."/"]\ntrust_level = "trusted"\n');
  const { merged, warnings } = await loadConfig(request);
  expect(merged.table['projects']).not.toHaveProperty('/');
  expect(warnings).toHaveLength(2);
});

test('trust is also found through a symlinked path', async () => {
  await symlink(path.join(base, 'project'), path.join(base, 'link'));
  await put('home/config.toml', trust());
  expect((await loadConfig({ ...request, cwd: path.join(base, 'link') })).project.trust).toBe('trusted');
});

test('each file falls back to the Codex home by itself', async () => {
  const env = { HOME: path.join(base, 'user') };
  await put('user/.codex/config.toml', 'model = "from-codex"');
  expect((await loadConfig({ ...request, env })).config.model).toBe('from-codex');
  await put('user/.turnwright/config.toml', 'model = "ours"');
  expect((await loadConfig({ ...request, env })).config.model).toBe('ours');
});

test('a named home does not fall back to ~/.codex, but to a named CODEX_HOME', async () => {
  await put('user/.codex/config.toml', 'model = "from-codex"');
  expect((await loadConfig(request)).config.model).toBeUndefined();
  const env = { ...request.env, CODEX_HOME: path.join(base, 'user/.codex') };
  expect((await loadConfig({ ...request, env })).config.model).toBe('from-codex');
});

const wrong: [string, string, string, string][] = [
  [
    'an unknown word',
    'approval_policy = "sometimes"',
    'TW_CONFIG_VALUE',
    'approval_policy is "sometimes"; expected one of untrusted',
  ],
  ['a wrong type', 'model_context_window = "many"', 'TW_CONFIG_VALUE', 'expected a whole number'],
  [
    'a wrong type deep inside',
    '[tools.update_plan]\nenabled = "yes"',
    'TW_CONFIG_VALUE',
    'tools.update_plan.enabled is "yes"',
  ],
  ['a table where text belongs', '[model]\na = 1', 'TW_CONFIG_VALUE', 'model is {"a":1}; expected a string'],
  [
    'a half granular policy',
    '[approval_policy.granular]\nrules = 1',
    'TW_CONFIG_VALUE',
    'approval_policy.granular.rules is 1',
  ],
  [
    'a redefined built-in provider',
    '[model_providers.openai]\nbase_url = "x"',
    'TW_CONFIG_VALUE',
    'cannot be redefined',
  ],
  [
    'a provider without address',
    'model_provider = "p"\n[model_providers.p]\nname = "P"',
    'TW_CONFIG_VALUE',
    'model_providers.p.base_url',
  ],
  ['broken TOML', 'model = "x"\nbroken = [1,\n\n', 'TW_CONFIG_PARSE', 'config.toml:'],
];
test.each(wrong)('%s is an error that names the place', async (_name, text, code, message) => {
  const file = await put('home/config.toml', text);
  const failure = await loadConfig(request).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code, message: expect.stringContaining(message) });
  expect((failure as Error).message).toContain(file);
});

test('broken TOML says line and column and what to do', async () => {
  const file = await put('home/config.toml', 'model = "x"\nnot toml here\n');
  await expect(loadConfig(request)).rejects.toThrow(new RegExp(`^${file}:2:\\d+: not valid TOML: .*; fix this line`));
});

test('a config file that is a folder cannot be read', async () => {
  await mkdir(path.join(base, 'home/config.toml'), { recursive: true });
  await expect(loadConfig(request)).rejects.toMatchObject({ code: 'TW_CONFIG_READ' });
});

test('an unknown key in a file is a warning with the nearest key; strict makes it an error', async () => {
  await put('home/config.toml', 'modle = "x"\n[tui]\nanything = 1\n');
  const { warnings } = await loadConfig(request);
  expect(warnings).toEqual([
    `unknown configuration field \`modle\` in ${base}/home/config.toml; did you mean \`model\`?`,
  ]);
  await expect(loadConfig({ ...request, strict: true })).rejects.toThrow('unknown configuration field `modle`');
});

test('an unknown key of -c is ignored unless strict', async () => {
  const overrides = ['no_such_key=1'];
  expect((await loadConfig({ ...request, overrides })).warnings).toEqual([]);
  await expect(loadConfig({ ...request, overrides, strict: true })).rejects.toThrow(
    'unknown configuration field `no_such_key` in -c/--config override',
  );
});

test('a legacy profile works with a warning; an unknown one is an error', async () => {
  await put('home/config.toml', '[profiles.old]\nmodel = "m"\n');
  const { config, warnings } = await loadConfig({ ...request, profile: 'old' });
  expect(config.model).toBe('m');
  expect(warnings[0]).toContain('deprecated');
  await expect(loadConfig({ ...request, profile: 'none' })).rejects.toMatchObject({ code: 'TW_CONFIG_VALUE' });
  await expect(loadConfig({ ...request, profile: '../x' })).rejects.toMatchObject({ code: 'TW_CONFIG_VALUE' });
});

test('sandbox policy: roots are resolved, missing ones left out with a warning', async () => {
  await mkdir(path.join(base, 'real'));
  await symlink(path.join(base, 'real'), path.join(base, 'alias'));
  const { config } = await loadConfig({
    ...request,
    overrides: [
      'sandbox_mode="workspace-write"',
      `sandbox_workspace_write.writable_roots=["${base}/alias","${base}/missing"]`,
    ],
  });
  const choice = { cwd: request.cwd, home: '/h', defaultMode: 'read-only', addDirs: [] } as const;
  const { policy, warnings } = await buildSandboxPolicy(config, choice);
  expect(policy).toMatchObject({ mode: 'workspace-write', network: { kind: 'off' }, unixSockets: 'deny' });
  expect(policy.writableRoots).toEqual([request.cwd, `${base}/real`]);
  expect(warnings).toEqual([`writable root ${base}/missing does not exist; it is left out`]);
});

test.each(['/', '/proc/self', '/sys'])('%s cannot be a writable root', async (root) => {
  const { config } = await loadConfig({ ...request, overrides: ['sandbox_mode="workspace-write"'] });
  const choice = { cwd: request.cwd, home: '/h', defaultMode: 'read-only', addDirs: [root] } as const;
  await expect(buildSandboxPolicy(config, choice)).rejects.toMatchObject({ code: 'TW_CONFIG_VALUE' });
});

test('sandbox_mode wins over a permission profile', async () => {
  const choice = { cwd: request.cwd, home: '/h', defaultMode: 'read-only', addDirs: [] } as const;
  const profile = await loadConfig({ ...request, overrides: ['default_permissions=":workspace"'] });
  expect((await buildSandboxPolicy(profile.config, choice)).policy.mode).toBe('workspace-write');
  const both = await loadConfig({
    ...request,
    overrides: ['default_permissions=":workspace"', 'sandbox_mode="read-only"'],
  });
  expect((await buildSandboxPolicy(both.config, choice)).policy.mode).toBe('read-only');
});

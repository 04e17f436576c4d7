import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { loadSessionConfig, type SessionRequest } from './session-config.js';
import { openSessionHooks } from './session-hooks.js';

const folders: string[] = [];
afterEach(() => Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true }))));

test('an unreviewed hook does not run, and what is printed for the config file lets it run', async () => {
  const home = await temporary();
  const hook = { type: 'command', command: './check "it"' };
  await writeFile(path.join(home, 'hooks.json'), JSON.stringify({ hooks: { PreToolUse: [{ hooks: [hook] }] } }));
  const before = await open(home);
  expect(before.hooks.open).toBeUndefined();
  const [notice] = before.notices;
  expect(notice).toContain(`PreToolUse in ${path.join(home, 'hooks.json')} (untrusted): ./check "it"`);
  expect(notice).toContain(`add to ${path.join(home, 'config.toml')}:`);

  await writeFile(path.join(home, 'config.toml'), notice!.slice(notice!.indexOf('[hooks.state.')));
  const after = await open(home);
  expect(after.hooks.open).toBeTypeOf('function');
  expect(after.notices).toEqual([]);
});

async function open(home: string) {
  const notices: string[] = [];
  const cwd = path.join(home, 'work');
  await mkdir(cwd, { recursive: true });
  const request: SessionRequest = {
    cwd,
    env: { HOME: home, TURNWRIGHT_HOME: home },
    interactive: false,
    defaultSandbox: 'read-only',
    notice: (text) => notices.push(text),
  };
  return { hooks: await openSessionHooks(await loadSessionConfig(request), request, '/bin/sh'), notices };
}

async function temporary(): Promise<string> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'hooks-test-')));
  folders.push(folder);
  return folder;
}

import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { SandboxPolicy } from '../protocol/index.js';
import { createSandboxBackend } from './create.js';

const base = realpathSync(mkdtempSync('/var/tmp/tw-sandbox-'));
afterAll(async () => {
  await backend.close();
  rmSync(base, { recursive: true, force: true });
});

const stateDir = join(base, 'state');
const backend = await createSandboxBackend({ stateDir });
const without = it.skipIf(backend.name !== 'bwrap');

function policy(root: string, over: Partial<SandboxPolicy> = {}): SandboxPolicy {
  return {
    mode: 'workspace-write',
    writableRoots: [root],
    excludeSlashTmp: false,
    excludeTmpdirEnvVar: false,
    readOnly: [],
    denyRead: [],
    git: 'read-only',
    network: { kind: 'off' },
    unixSockets: 'deny',
    landlockFallback: false,
    ...over,
  };
}

async function run(command: string, over: Partial<SandboxPolicy> = {}) {
  const root = mkdtempSync(join(base, 'ws-'));
  const options = { cwd: root, env: { PATH: process.env['PATH'] ?? '' }, tty: false, policy: policy(root, over) };
  const running = await backend.spawn(['/bin/sh', '-c', command], options, new AbortController().signal);
  let output = '';
  running.onOutput((bytes) => (output += bytes.toString()));
  const exit = await running.exited;
  return { root, output, ...exit };
}

describe('a command under the sandbox', () => {
  without('writes in its workspace and nowhere else', async () => {
    const outside = join(base, 'outside');
    const { root, output, code } = await run(`echo in > inside && echo out > ${outside}`);
    expect(code).not.toBe(0);
    expect(output).toContain('Read-only file system');
    expect(existsSync(join(root, 'inside'))).toBe(true);
    expect(existsSync(outside)).toBe(false);
  });

  without('writes nothing in read-only mode', async () => {
    const { root, output } = await run('echo in > inside', { mode: 'read-only' });
    expect(output).toContain('Read-only file system');
    expect(readdirSync(root)).toEqual([]);
  });

  without('cannot plant a protected name, and leaves no stand-in behind', async () => {
    const { root, code } = await run('mkdir .codex 2>/dev/null; echo evil > .git/config');
    expect(code).not.toBe(0);
    await backend.close();
    expect(readdirSync(root)).toEqual([]);
  });

  without('ends with its own exit status, 128+n for a signal', async () => {
    expect((await run('exit 42')).code).toBe(42);
    expect((await run('kill -9 $$')).code).toBe(137);
  });

  it('is not wrapped with full access', async () => {
    const { output } = await run('echo ${TURNWRIGHT_SANDBOX:-none}', { mode: 'danger-full-access' });
    expect(output).toBe('none\n');
  });
});

describe('without bubblewrap', () => {
  it('refuses restricted policies and says what to do', async () => {
    const bare = await createSandboxBackend({ stateDir, searchPath: base });
    const options = { cwd: base, env: {}, tty: false, policy: policy(base, { denyRead: ['/etc/shadow'] }) };
    await expect(bare.spawn(['/bin/true'], options, new AbortController().signal)).rejects.toMatchObject({
      code: 'TW_SANDBOX_UNAVAILABLE',
      message: expect.stringMatching(/bwrap.*not installed.*Landlock.*apt install bubblewrap.*danger-full-access/),
    });
  });
});

import { spawn } from 'node:child_process';
import {
  existsSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Claims } from './claims.js';
import { createFileView } from './files.js';
import { openState, type SandboxState } from './state.js';

let base: string;
let state: SandboxState;
let target: string;
const files = createFileView();
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'claims-'));
  state = openState(join(base, 'state'));
  target = join(base, '.codex');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** Claims `target` when the view says that it is missing, as the planner does. */
async function claim(claims: Claims, kind: 'dir' | 'file' = 'dir') {
  const { result, claim: held } = await claims.acquire(files, (view) => {
    const missing = view.kind(target) === 'missing';
    return { result: missing, needs: missing ? [{ path: target, kind }] : [] };
  });
  const release = async (): Promise<void> => {
    held.release();
    await claims.flush();
  };
  return { planned: result, release };
}

describe('claims', () => {
  it.each(['dir', 'file'] as const)('make an empty %s and remove it', async (kind) => {
    const held = await claim(new Claims(state), kind);
    expect(files.kind(target)).toBe(kind);
    await held.release();
    expect(existsSync(target)).toBe(false);
    expect(readdirSync(state.claimsDir)).toEqual([]);
  });

  it('keep the stand-in until the last user is gone, within a process and across them', async () => {
    const [one, other] = [new Claims(state), new Claims(state)];
    const held = [await claim(one), await claim(one), await claim(other)];
    expect(held.map(({ planned }) => planned)).toEqual([true, true, true]);
    for (const { release } of held.slice(0, 2)) {
      await release();
      expect(existsSync(target)).toBe(true);
    }
    await held[2]!.release();
    expect(existsSync(target)).toBe(false);
  });

  it('wait a moment for the next user before they remove anything', async () => {
    const claims = new Claims(state);
    const { claim: first } = await claims.acquire(files, () => ({ result: 0, needs: [{ path: target, kind: 'dir' }] }));
    first.release();
    expect(existsSync(target)).toBe(true);
    const next = await claim(claims);
    expect(next.planned).toBe(true);
    await next.release();
    expect(existsSync(target)).toBe(false);
  });

  it('release only once', async () => {
    const claims = new Claims(state);
    const [first, second] = [await claim(claims), await claim(claims)];
    await first.release();
    await first.release();
    expect(existsSync(target)).toBe(true);
    await second.release();
    expect(existsSync(target)).toBe(false);
  });

  it('leave alone what someone has filled meanwhile', async () => {
    const held = await claim(new Claims(state));
    writeFileSync(join(target, 'config.toml'), 'mine');
    await held.release();
    expect(readdirSync(target)).toEqual(['config.toml']);
  });

  it('do not take a real empty directory for a stand-in', async () => {
    mkdirSync(target);
    const held = await claim(new Claims(state));
    expect(held.planned).toBe(false);
    await held.release();
    expect(existsSync(target)).toBe(true);
  });

  it('clear what a killed process has left', async () => {
    const dead = spawn('true');
    await new Promise((resolve) => dead.once('exit', resolve));
    await claim(new Claims(state));
    // The marker now belongs to a process that is gone.
    const marker = readdirSync(state.claimsDir)[0]!;
    renameSync(join(state.claimsDir, marker), join(state.claimsDir, `${marker.split('.')[0]}.${dead.pid}-1-abc`));
    const held = await claim(new Claims(state));
    expect(held.planned).toBe(true);
    await held.release();
    expect(existsSync(target)).toBe(false);
    expect(readdirSync(state.claimsDir)).toEqual([]);
  });

  it('break the lock of a holder that died', async () => {
    const lock = join(state.claimsDir, 'lock');
    symlinkSync('1', lock);
    lutimesSync(lock, 1, 1);
    await (await claim(new Claims(state))).release();
    expect(existsSync(lock)).toBe(false);
  });

  it('still remove what they made when their state was removed', async () => {
    const held = await claim(new Claims(state));
    rmSync(state.dir, { recursive: true });
    await held.release();
    expect(existsSync(target)).toBe(false);
  });

  it('do without a stand-in where none can be made', async () => {
    target = '/proc/turnwright-cannot-be-made';
    await (await claim(new Claims(state))).release();
    expect(readdirSync(state.claimsDir)).toEqual([]);
  });
});

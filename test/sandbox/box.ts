/** Shared by the sandbox suites: a box over a fresh workspace outside `/tmp`, and a way to run a script in it. */
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { type Box, type BoxPolicy, type BoxRun, createSandbox } from '../../src/sandbox/index.js';

export interface Ran {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

/** `/tmp` is writable inside, so what must stay untouched lies elsewhere. */
export function freshFolder(): string {
  const folder = realpathSync(mkdtempSync('/var/tmp/tw-sandbox-'));
  chmodSync(folder, 0o755);
  return folder;
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

export async function openBox(root: string, over: Partial<BoxPolicy> = {}, stateDir?: string): Promise<Box> {
  const policy: BoxPolicy = { mode: 'workspace-write', writableRoots: [root], ...over };
  return await createSandbox(policy, stateDir === undefined ? {} : { stateDir });
}

export async function runIn(box: Box, script: string, run: BoxRun = {}): Promise<Ran> {
  const env = { PATH: process.env['PATH'] ?? '', ...run.env };
  const running = await box.spawn(['/bin/sh', '-c', script], { ...run, env });
  let output = '';
  running.onOutput((bytes) => (output += bytes.toString()));
  return { ...(await running.exited), output };
}

/** Many commands at once over one workspace, some killed midway: afterwards nothing is left of any of them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { freshFolder, openBox, removeFolder } from './box.js';

const COMMANDS = Number(process.env['TURNWRIGHT_STRESS'] ?? 500);
const AT_ONCE = 8;

const base = freshFolder();
const root = freshFolder();
const state = join(base, 'state');
const box = await openBox(root, { readOnly: [join(root, 'deep/er/path')] }, state);
afterAll(async () => {
  await box.close();
  removeFolder(base);
  removeFolder(root);
});

function descriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

/** Processes that carry this run's mark, wherever they are. */
function marked(): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`STRESS_MARK=${base}\0`);
    } catch {
      return false;
    }
  });
}

const SCRIPTS = [
  'echo x > "f$$"; mkdir .codex 2>/dev/null; rm -f "f$$"; true',
  'mkdir -p deep/er/path 2>/dev/null; echo evil > .git/config 2>/dev/null; exit 3',
  '(sleep 600 &) ; exit 0',
  'sleep 600',
  'setsid sh -c "sleep 600" & exit 7',
];
const EXITS = [0, 3, 0, undefined, 7];

describe('under load', () => {
  it.skipIf(box.tier !== 'bwrap')(
    'leaves no mount point, marker, process (so no namespace) or descriptor',
    async () => {
      await one(0);
      const before = descriptors();
      let next = 0;
      const worker = async (): Promise<void> => {
        while (next < COMMANDS) await one(next++);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
      await box.close();
      expect(readdirSync(root)).toEqual([]);
      expect(readdirSync(join(state, 'claims'))).toEqual([]);
      expect(descriptors()).toBeLessThanOrEqual(before + 2);
      // A namespace lives as long as a process in it or a descriptor on it, and there is neither.
      expect(marked()).toEqual([]);
    },
  );
});

async function one(index: number): Promise<void> {
  const kind = index % SCRIPTS.length;
  const running = await box.spawn(['/bin/sh', '-c', SCRIPTS[kind]!], {
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', STRESS_MARK: base },
  });
  // The fourth never ends by itself; of the others some are killed wherever they are.
  const killed = kind === 3 || (kind !== 0 && index % 11 === 0);
  if (killed) running.kill('SIGKILL');
  let output = '';
  running.onOutput((bytes) => (output += bytes.toString()));
  const { code, signal } = await running.exited;
  if (killed) expect([EXITS[kind], 'SIGKILL'], output).toContain(signal ?? code);
  else expect(code, output).toBe(EXITS[kind]);
}

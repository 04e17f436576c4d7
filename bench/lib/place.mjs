// Where a bench runs: an own copy of the build, empty homes, and the programs to compare.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));
const at = (...parts) => path.join(root, ...parts);

/** Work does not live in `/tmp`, which sandboxes treat in their own ways; Codex starts no helper from there. */
const OUTSIDE_TMP = '/var/tmp';

/** An own build, so that whoever builds meanwhile changes nothing here. */
export function createPlace() {
  const base = realpathSync(mkdtempSync(path.join(existsSync(OUTSIDE_TMP) ? OUTSIDE_TMP : os.tmpdir(), 'tw-bench-')));
  const inside = (...parts) => path.join(base, ...parts);
  for (const name of ['work', 'user', 'homes', 'program']) mkdirSync(inside(name));
  cpSync(at('bin'), inside('program/bin'), { recursive: true });
  cpSync(at('package.json'), inside('program/package.json'));
  symlinkSync(at('node_modules'), inside('program/node_modules'));
  const built = spawnSync(process.execPath, [at('scripts/build.mjs'), '--no-types', '--out', inside('program/dist')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (built.status !== 0) throw new Error('the build failed');
  let homes = 0;
  return {
    work: inside('work'),
    user: inside('user'),
    program: inside('program/bin/turnwright.js'),
    /** Path of a file of the build. */
    dist: (name) => inside('program/dist', name),
    freshHome() {
      const home = inside('homes', `${homes++}`);
      mkdirSync(home);
      return home;
    },
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}

/** The isolation we give a command, made by hand. */
function bwrapByHand(work) {
  return [
    'bwrap',
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-net', '--die-with-parent', '--new-session'],
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--bind', work, work, '--chdir', work, '--'],
  ];
}

/**
 * The programs to compare: each gives the command line and environment of one turn.
 * `launch({port, home, sandboxed})` returns `{argv, env}`.
 */
export function programsAt(place, codex) {
  const plain = { PATH: process.env.PATH, HOME: place.user, SHELL: '/bin/bash', LANG: 'C.UTF-8' };
  const family = (argv, homeVariable) => ({
    launch: ({ port, home, sandboxed }) => ({
      argv: [...argv, ...execArguments(port, sandboxed)],
      env: { ...plain, MOCK_KEY: 'k', [homeVariable]: home },
    }),
  });
  const floor = {
    launch: ({ port, home, sandboxed }) => ({
      argv: [process.execPath, at('bench/floor.mjs'), 'go'],
      env: {
        ...plain,
        FLOOR_PORT: `${port}`,
        FLOOR_LOG: path.join(home, 'log.jsonl'),
        ...(sandboxed ? { FLOOR_BWRAP: JSON.stringify(bwrapByHand(place.work)) } : {}),
      },
    }),
  };
  return [
    { name: 'turnwright', ...family([process.execPath, place.program], 'TURNWRIGHT_HOME') },
    { name: 'floor', ...floor },
    ...(codex === undefined ? [] : [{ name: 'codex', ...family([codex], 'CODEX_HOME') }]),
  ];
}

function execArguments(port, sandboxed) {
  const provider = `{name="mock",base_url="http://127.0.0.1:${port}/v1",wire_api="responses",env_key="MOCK_KEY",supports_websockets=false}`;
  return [
    ...['exec', '--json', '--skip-git-repo-check', '-m', 'gpt-5.5'],
    ...['-c', 'model_provider="mock"', '-c', `model_providers.mock=${provider}`],
    ...['-s', sandboxed ? 'workspace-write' : 'danger-full-access', 'go'],
  ];
}

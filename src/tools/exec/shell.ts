/** Which shell runs a script. */
import { accessSync, constants } from 'node:fs';
import { basename } from 'node:path';

export interface Shell {
  /** Absolute. */
  readonly path: string;
  /** `bash`, `zsh`, `sh` … */
  readonly name: string;
}

/** Only these places: a program of the workspace that calls itself `bash` is no shell. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  bash: ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash'],
  zsh: ['/bin/zsh', '/usr/bin/zsh', '/usr/local/bin/zsh'],
  sh: ['/usr/bin/sh', '/bin/sh'],
};

/** The person's shell by `$SHELL`, where it is one we know; else bash, else sh. */
export function findUserShell(env: Readonly<Record<string, string | undefined>>): Shell {
  const own = env['SHELL'] ?? '';
  if (own.startsWith('/') && basename(own) in PLACES && isProgram(own)) return { path: own, name: basename(own) };
  for (const name of ['bash', 'sh']) {
    const path = PLACES[name]!.find(isProgram);
    if (path !== undefined) return { path, name };
  }
  return { path: '/bin/sh', name: 'sh' };
}

/**
 * The call's `shell` names a kind, never a program: a path that ends in `bash` means this machine's bash, planted or not,
 * and what is no shell of this machine runs under `sh` (both as Codex 0.171).
 */
export function chooseShell(wanted: string | undefined, own: Shell): Shell {
  if (wanted === undefined || wanted === own.path || wanted === own.name) return own;
  const name = basename(wanted);
  const path = Object.hasOwn(PLACES, name) ? PLACES[name]!.find(isProgram) : undefined;
  return path === undefined ? { path: '/bin/sh', name: 'sh' } : { path, name };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The environment of an MCP server: a core of harmless names, and what its configuration names. Never all of ours. */
import type { Environment } from '../../process/index.js';
import type { StdioServer } from './read-servers.js';

/** Enough to find programs, the home and the language. Keys and tokens are not among them. */
const CORE_NAMES = [
  'HOME',
  'LOGNAME',
  'USER',
  'PATH',
  'SHELL',
  'TERM',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TMPDIR',
  'TZ',
  '__CF_USER_TEXT_ENCODING',
];

/** `env` wins over `env_vars`, which win over the core. A value that is a shell function is left out. */
export function buildServerEnv(server: StdioServer, base: Environment): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of [...CORE_NAMES, ...server.envVars]) {
    const value = base[name];
    if (value !== undefined && !value.startsWith('()')) env[name] = value;
  }
  return { ...env, ...server.env };
}

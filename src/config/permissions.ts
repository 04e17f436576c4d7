/** Permission profiles (`default_permissions`, `[permissions.NAME]`) as parts of a sandbox policy. Pure. */
import path from 'node:path';
import { type NetworkPolicy, TurnwrightError } from '../protocol/index.js';
import type { Table } from './layers.js';
import { isTable, nearestWord } from './shape.js';

export interface PermissionsResult {
  readonly mode: 'read-only' | 'workspace-write' | 'danger-full-access';
  readonly writableRoots: readonly string[];
  readonly readOnly: readonly string[];
  readonly denyRead: readonly string[];
  readonly slashTmp: boolean;
  readonly tmpdir: boolean;
  readonly network: NetworkPolicy;
}

type Access = 'read' | 'write' | 'deny' | 'none';

/** A profile with everything it extends folded in. */
interface Profile {
  readonly full: boolean;
  readonly filesystem: ReadonlyMap<string, Access>;
  readonly network: Table;
}

const WORKSPACE_KEYS = [':workspace', ':workspace_roots', ':project_roots', ':cwd'];
const BUILT_IN: Readonly<Record<string, Profile>> = {
  ':read-only': { full: false, filesystem: new Map(), network: {} },
  ':workspace': {
    full: false,
    filesystem: new Map([
      [':workspace', 'write'],
      [':slash_tmp', 'write'],
      [':tmpdir', 'write'],
    ]),
    network: {},
  },
  ':danger-full-access': { full: true, filesystem: new Map(), network: { enabled: true } },
};

/** Throws `TW_CONFIG_VALUE` for an unknown profile, a circle of `extends`, or write access to everything. */
export function applyPermissions(
  name: string,
  permissions: Table,
  place: { readonly cwd: string; readonly home: string },
): PermissionsResult {
  const profile = resolveProfile(name, permissions, []);
  const of = (access: readonly Access[]): string[] =>
    [...profile.filesystem]
      .filter(([key, value]) => access.includes(value) && !isSpecial(key))
      .map(([key]) => locate(key, place));
  const writableRoots = of(['write']);
  const writes = writableRoots.length > 0 || allows(profile, ':slash_tmp') || allows(profile, ':tmpdir');
  if (allows(profile, ':root'))
    throw badValue(`permissions.${name}: write access to ":root" is full access; extend ":danger-full-access" instead`);
  return {
    mode: profile.full ? 'danger-full-access' : writes ? 'workspace-write' : 'read-only',
    writableRoots,
    readOnly: of(['read']).filter((file) => writableRoots.some((root) => file.startsWith(`${root}/`))),
    denyRead: of(['deny', 'none']),
    slashTmp: allows(profile, ':slash_tmp'),
    tmpdir: allows(profile, ':tmpdir'),
    network: readNetwork(profile.network),
  };
}

function resolveProfile(name: string, permissions: Table, seen: readonly string[]): Profile {
  const builtIn = Object.hasOwn(BUILT_IN, name) ? BUILT_IN[name] : undefined;
  if (builtIn) return builtIn;
  const entry = Object.hasOwn(permissions, name) ? permissions[name] : undefined;
  if (!isTable(entry)) throw unknownProfile(name, [...Object.keys(BUILT_IN), ...Object.keys(permissions)]);
  if (seen.includes(name)) throw badValue(`permissions.${name}: extends itself (${[...seen, name].join(' → ')})`);
  const parent = entry['extends'];
  const base =
    typeof parent === 'string' ? resolveProfile(parent, permissions, [...seen, name]) : BUILT_IN[':read-only']!;
  const network = isTable(entry['network']) ? entry['network'] : {};
  return {
    full: base.full,
    filesystem: new Map([...base.filesystem, ...flatten(entry['filesystem'])]),
    network: { ...base.network, ...network },
  };
}

/** `":workspace" = { "." = "write", docs = "read" }` names paths inside the workspace. */
function flatten(filesystem: unknown): [string, Access][] {
  if (!isTable(filesystem)) return [];
  return Object.entries(filesystem).flatMap(([key, value]): [string, Access][] => {
    if (typeof value === 'string') return [[key, value as Access]];
    if (!isTable(value)) return [];
    return Object.entries(value).map(([inner, access]) => [inner === '.' ? key : `${key}/${inner}`, access as Access]);
  });
}

function isSpecial(key: string): boolean {
  return key.startsWith(':') && !WORKSPACE_KEYS.some((name) => key === name || key.startsWith(`${name}/`));
}

function locate(key: string, place: { readonly cwd: string; readonly home: string }): string {
  const workspace = WORKSPACE_KEYS.find((name) => key === name || key.startsWith(`${name}/`));
  if (workspace) return path.join(place.cwd, key.slice(workspace.length));
  const expanded = key === '~' || key.startsWith('~/') ? path.join(place.home, key.slice(1)) : key;
  return path.resolve(place.cwd, expanded);
}

function allows(profile: Profile, key: string): boolean {
  return profile.filesystem.get(key) === 'write';
}

function readNetwork(network: Table): NetworkPolicy {
  if (network['enabled'] !== true) return { kind: 'off' };
  const domains = isTable(network['domains']) ? Object.entries(network['domains']) : [];
  if (domains.length === 0 && network['mode'] !== 'limited') return { kind: 'full' };
  return {
    kind: 'proxied',
    allow: domains.filter(([, access]) => access === 'allow').map(([host]) => host),
    deny: domains.filter(([, access]) => access === 'deny').map(([host]) => host),
    mode: network['mode'] === 'limited' ? 'limited' : 'full',
  };
}

function unknownProfile(name: string, known: readonly string[]): TurnwrightError {
  const nearest = nearestWord(name, known);
  const hint = nearest === undefined ? `known: ${known.join(', ')}` : `did you mean "${nearest}"?`;
  return badValue(`default_permissions: there is no permission profile "${name}"; ${hint}`);
}

function badValue(message: string): TurnwrightError {
  return new TurnwrightError('TW_CONFIG_VALUE', message);
}

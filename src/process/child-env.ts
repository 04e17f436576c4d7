/** Which environment variables a command gets. Pure: what is known goes in, the whole environment comes out. */

export interface ShellEnvironmentPolicy {
  /** What to start from. `core`: home, user, shell, path and temporary directory. */
  readonly inherit: 'all' | 'core' | 'none';
  /** True keeps variables whose names look like secrets. */
  readonly ignoreDefaultExcludes: boolean;
  /** Name patterns to drop, `*` and `?` as wildcards, in any case. */
  readonly exclude: readonly string[];
  /** When not empty, only matching names stay. */
  readonly includeOnly: readonly string[];
  readonly set: Readonly<Record<string, string>>;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Codex 0.171 gives every command these, so that programs neither page nor colour nor translate. */
export const FIXED_OVERLAY: Readonly<Record<string, string>> = {
  NO_COLOR: '1',
  TERM: 'dumb',
  LANG: 'C.UTF-8',
  LC_ALL: 'C.UTF-8',
  LC_CTYPE: 'C.UTF-8',
  COLORTERM: '',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GH_PAGER: 'cat',
  CODEX_CI: '1',
};

const CORE_NAMES = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'USER', 'USERNAME', 'TMPDIR', 'TEMP', 'TMP'];
const SECRET_NAMES = ['*KEY*', '*SECRET*', '*TOKEN*', '*PASSWORD*', '*CREDENTIAL*'];
const ALWAYS_DROPPED = ['OPENAI_API_KEY', 'CODEX_API_KEY', 'TURNWRIGHT_API_KEY'];

/**
 * Order as in Codex 0.171: inherit, default excludes, excludes, set, include-only; then the provider's keys are
 * dropped whatever the policy says (Codex passes them on), and the overlay is laid on top.
 */
export function buildChildEnv(
  policy: ShellEnvironmentPolicy,
  base: Environment,
  overlay: Readonly<Record<string, string>>,
  providerKeyNames: readonly string[] = [],
): Record<string, string> {
  const env: Record<string, string> = { ...inherited(policy, base), ...policy.set };
  if (policy.includeOnly.length > 0) dropNames(env, (name) => !matchesAny(name, policy.includeOnly));
  for (const name of [...ALWAYS_DROPPED, ...providerKeyNames]) delete env[name];
  return { ...env, ...overlay };
}

/** Values a command must not see and a log must not hold: provider keys, and variables dropped for their names. */
export function secretValues(
  policy: ShellEnvironmentPolicy,
  base: Environment,
  providerKeyNames: readonly string[] = [],
): string[] {
  const providers = new Set([...ALWAYS_DROPPED, ...providerKeyNames]);
  const looksSecret = (name: string) => !policy.ignoreDefaultExcludes && matchesAny(name, SECRET_NAMES);
  return Object.entries(base)
    .filter(([name, value]) => value !== undefined && (providers.has(name) || (looksSecret(name) && !isPath(value))))
    .map(([, value]) => value!);
}

/** Facts of one call that its command may want to know. */
export function callOverlay(call: {
  readonly threadId: string;
  readonly callId: string;
  readonly version: string;
  readonly networkOff: boolean;
}): Record<string, string> {
  const overlay: Record<string, string> = { ...FIXED_OVERLAY };
  for (const prefix of ['TURNWRIGHT', 'CODEX']) {
    overlay[`${prefix}_THREAD_ID`] = call.threadId;
    overlay[`${prefix}_SESSION_ID`] = call.threadId;
    overlay[`${prefix}_TOOL_CALL_ID`] = call.callId;
    overlay[`${prefix}_VERSION`] = call.version;
  }
  if (call.networkOff) overlay['CODEX_SANDBOX_NETWORK_DISABLED'] = '1';
  return overlay;
}

function inherited(policy: ShellEnvironmentPolicy, base: Environment): Record<string, string> {
  const env: Record<string, string> = {};
  if (policy.inherit === 'none') return env;
  for (const [name, value] of Object.entries(base)) {
    if (value === undefined) continue;
    if (policy.inherit === 'core' && !CORE_NAMES.includes(name.toUpperCase())) continue;
    env[name] = value;
  }
  if (!policy.ignoreDefaultExcludes) dropNames(env, (name) => matchesAny(name, SECRET_NAMES));
  dropNames(env, (name) => matchesAny(name, policy.exclude));
  return env;
}

function dropNames(env: Record<string, string>, drop: (name: string) => boolean): void {
  for (const name of Object.keys(env)) if (drop(name)) delete env[name];
}

function matchesAny(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => wildcard(pattern).test(name));
}

const compiled = new Map<string, RegExp>();

function wildcard(pattern: string): RegExp {
  let regex = compiled.get(pattern);
  if (!regex) {
    const source = pattern
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.');
    regex = new RegExp(`^${source}$`, 'is');
    compiled.set(pattern, regex);
  }
  return regex;
}

/** `SSH_KEY_FILE=/home/me/.ssh/id` names a place, not a secret; masking it would garble every listing. */
function isPath(value: string | undefined): boolean {
  return value !== undefined && /^~?(\/[\w.@+-]+)+\/?$/.test(value) && !/[A-Za-z0-9+]{32}/.test(value);
}

/**
 * Hook configuration: `[hooks]` tables and `hooks.json` files of every layer, checked and flattened into handlers.
 * The format is Codex 0.171's; `on_error` is ours.
 */
import { createHash } from 'node:crypto';

export const HOOK_EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PermissionRequest',
  'PostToolUse',
  'PreCompact',
  'PostCompact',
  'SubagentStart',
  'SubagentStop',
  'Stop',
  'SessionEnd',
] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** Where hooks were found: a config layer's raw `hooks` value. */
export interface HookSource {
  /** Absolute path of the file, for trust keys and messages. */
  readonly path: string;
  readonly hooks: unknown;
  /** Managed hooks need no trust. */
  readonly managed?: boolean;
}

/** What the user has decided about handlers, by key. */
export type HookTrust = Readonly<Record<string, { readonly trusted_hash?: string; readonly enabled?: boolean }>>;

export interface Handler {
  readonly event: HookEvent;
  readonly matcher: string;
  readonly command: string;
  readonly timeoutMs: number;
  /** Started and not waited for; it cannot decide anything. */
  readonly async: boolean;
  /** What a failure of the hook means for the call it guards. Codex lets it run; we do not. */
  readonly onError: 'block' | 'allow';
  readonly source: string;
  /** `<path>:<event>:<group>:<handler>`. */
  readonly key: string;
  readonly hash: string;
  readonly status: 'managed' | 'trusted' | 'modified' | 'untrusted' | 'disabled';
}

export interface HookSet {
  readonly handlers: readonly Handler[];
  readonly warnings: readonly string[];
}

const DEFAULT_TIMEOUT_S = 600;

export function readHooks(sources: readonly HookSource[], trust: HookTrust): HookSet {
  const warnings: string[] = [];
  const handlers = sources.flatMap((source) => readSource(source, trust, warnings));
  return { handlers, warnings };
}

function readSource(source: HookSource, trust: HookTrust, warnings: string[]): Handler[] {
  const table = objectOf(source.hooks);
  return Object.entries(table).flatMap(([event, groups]) => {
    if (event === 'state') return [];
    if (!isHookEvent(event)) {
      warnings.push(`${source.path}: unknown hook event \`${event}\`; it is ignored`);
      return [];
    }
    return listOf(groups).flatMap((group, g) => readGroup(source, event, objectOf(group), g, trust, warnings));
  });
}

function readGroup(
  source: HookSource,
  event: HookEvent,
  group: Record<string, unknown>,
  g: number,
  trust: HookTrust,
  warnings: string[],
): Handler[] {
  const matcher = typeof group['matcher'] === 'string' ? group['matcher'] : '';
  if (!compileMatcher(matcher)) {
    warnings.push(
      `${source.path}: the matcher ${JSON.stringify(matcher)} of ${event} is no valid pattern; its hooks are skipped`,
    );
    return [];
  }
  return listOf(group['hooks']).flatMap((entry, h) => {
    const hook = objectOf(entry);
    if (hook['type'] !== 'command' || typeof hook['command'] !== 'string') {
      warnings.push(
        `${source.path}: ${event} hook ${g + 1}.${h + 1} has type ${JSON.stringify(hook['type'])}; only "command" with a command text is run`,
      );
      return [];
    }
    return [handlerOf(source, event, matcher, hook, hook['command'], `${g}:${h}`, trust)];
  });
}

function handlerOf(
  source: HookSource,
  event: HookEvent,
  matcher: string,
  hook: Record<string, unknown>,
  command: string,
  position: string,
  trust: HookTrust,
): Handler {
  const seconds = typeof hook['timeout'] === 'number' ? Math.max(1, hook['timeout']) : DEFAULT_TIMEOUT_S;
  const plain = {
    event,
    matcher,
    command,
    timeoutMs: seconds * 1000,
    async: hook['async'] === true,
    onError: hook['on_error'] === 'allow' ? ('allow' as const) : ('block' as const),
  };
  const key = `${source.path}:${snake(event)}:${position}`;
  const hash = `sha256:${createHash('sha256').update(JSON.stringify(plain)).digest('hex')}`;
  return { ...plain, source: source.path, key, hash, status: statusOf(source, trust[key], hash) };
}

function statusOf(source: HookSource, decided: HookTrust[string] | undefined, hash: string): Handler['status'] {
  if (decided?.enabled === false) return 'disabled';
  if (source.managed) return 'managed';
  if (decided?.trusted_hash === undefined) return 'untrusted';
  return decided.trusted_hash === hash ? 'trusted' : 'modified';
}

/** Plain names with `|` between them match exactly; anything else is an unanchored pattern. Empty and `*` match all. */
export function compileMatcher(matcher: string): ((name: string) => boolean) | undefined {
  if (matcher === '' || matcher === '*') return () => true;
  if (/^[A-Za-z0-9_|]+$/.test(matcher)) {
    const names = new Set(matcher.split('|'));
    return (name) => names.has(name);
  }
  try {
    const pattern = new RegExp(matcher);
    return (name) => pattern.test(name);
  } catch {
    return undefined;
  }
}

function isHookEvent(name: string): name is HookEvent {
  return (HOOK_EVENTS as readonly string[]).includes(name);
}

function snake(event: HookEvent): string {
  return event.replace(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

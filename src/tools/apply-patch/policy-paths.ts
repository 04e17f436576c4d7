/** From the sandbox settings to canonical paths a patch can be judged by. */
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { SandboxPolicy, TurnSettings } from '../../protocol/index.js';
import type { PatchPolicyFacts } from './patch-requirement.js';

/**
 * @param tmpdir `$TMPDIR` of this process, when set.
 * @param closed Absolute paths that stay closed inside every root: rules and configuration lie there.
 */
export function gatherPolicyFacts(
  settings: TurnSettings,
  tmpdir: string | undefined,
  closed: readonly string[] = [],
): PatchPolicyFacts {
  const { sandbox, approvalPolicy } = settings;
  const temporary = [
    ...(sandbox.excludeSlashTmp ? [] : ['/tmp']),
    ...(sandbox.excludeTmpdirEnvVar || !tmpdir ? [] : [tmpdir]),
  ];
  const roots = sandbox.mode === 'workspace-write' ? [...sandbox.writableRoots, ...temporary].flatMap(canonical) : [];
  return {
    approvalPolicy,
    sandbox,
    roots,
    readOnly: [...sandbox.readOnly, ...closed].flatMap((path) => [resolve(path), ...canonical(path)]),
  };
}

/** With every link followed; none for a path that does not exist: as a root it protects and allows nothing. */
export function canonical(path: string): string[] {
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
}

/**
 * The first target whose content the policy hides from the model. A patch must not read it either: an update tells by
 * its error what a file holds.
 */
export function findHidden(targets: readonly string[], sandbox: SandboxPolicy): string | undefined {
  if (sandbox.mode === 'danger-full-access' || sandbox.mode === 'external') return undefined;
  const patterns = sandbox.denyRead.flatMap((path) => [path, ...canonical(path)]).map(pathPattern);
  return targets.find((target) => patterns.some((pattern) => pattern.test(target)));
}

/** `*` and `?` stay inside a component, `**` does not. Whatever lies below a match is matched as well. */
function pathPattern(glob: string): RegExp {
  const source = glob.replace(/\*\*\/?|[*?]|[.+^${}()|[\]\\]/g, (part) => {
    if (part.startsWith('**')) return part.endsWith('/') ? '(?:.*/)?' : '.*';
    return part === '*' ? '[^/]*' : part === '?' ? '[^/]' : `\\${part}`;
  });
  return new RegExp(`^${source.replace(/\/$/, '')}(?:/|$)`);
}

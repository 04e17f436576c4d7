/** Rules files on disk: which are read, in which layer, and what happens when one cannot be. */
import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { readConfirmations, rulesHash } from './confirmed-rules.js';
import { createPolicy, type Policy, type PolicyOptions } from './policy.js';
import { parseRules } from './rules/parse-rules.js';
import type { HostExecutable, RuleFile, RuleLayer } from './rules/rule.js';
import { RulesError } from './rules/rule-error.js';

/** A directory whose `*.rules` files belong to a layer. A missing directory is empty. */
export interface RuleDirectory {
  readonly directory: string;
  readonly layer: RuleLayer;
  /** The files may ask and forbid; their `allow` rules count only where `confirmed` names the file's hash. */
  readonly restrictOnly?: boolean;
}

export interface RuleSources extends PolicyOptions {
  /** Low to high. Precedence does not exist: the strictest rule of all layers wins. */
  readonly directories: readonly RuleDirectory[];
  /** Rules from elsewhere, as `managedRules` makes them; merged last. */
  readonly more?: readonly RuleFile[];
  /** SHA-256 of project files a person has confirmed. */
  readonly confirmed?: ReadonlySet<string>;
  /** File of further confirmations, looked at again whenever it changes: `confirmationsFile(home)`. */
  readonly confirmations?: string;
}

export interface SystemPlaces {
  /** `TURNWRIGHT_HOME`; its `rules` folder is the user layer. */
  readonly home: string;
  /** Its `rules` folder is the system layer. */
  readonly system?: string;
  /** Folders that may hold `.turnwright/rules` and `.codex/rules`. */
  readonly projects?: readonly string[];
  readonly trust?: 'trusted' | 'untrusted' | 'unknown';
  /** `read-only` sessions of unknown trust do not read project rules (Codex 0.171). */
  readonly readOnly?: boolean;
}

/**
 * The directories of a session. Nobody trusts a project on their own account: of a project that is not untrusted the
 * rules may restrict at once, and allow after a person confirmed the file.
 */
export function ruleDirectories(places: SystemPlaces): readonly RuleDirectory[] {
  const { home, system, projects = [], trust = 'unknown', readOnly = false } = places;
  const readsProject = trust === 'trusted' || (trust === 'unknown' && !readOnly);
  return [
    ...(system === undefined ? [] : [{ directory: path.join(system, 'rules'), layer: 'system' as const }]),
    { directory: path.join(home, 'rules'), layer: 'user' },
    ...(readsProject
      ? projects.flatMap((project) =>
          ['.codex', '.turnwright'].map((folder) => ({
            directory: path.join(project, folder, 'rules'),
            layer: 'project' as const,
            restrictOnly: true,
          })),
        )
      : []),
  ];
}

/** Reads every file once. Broken files are listed in the policy, never silently dropped. */
export function loadPolicy(sources: RuleSources): Policy {
  return assemble(sources, readSources(sources));
}

/** A file as found: its rules, or why it has none. */
export interface ReadFile {
  readonly file: string;
  readonly layer: RuleLayer;
  readonly restrictOnly: boolean;
  readonly hash: string;
  readonly result: RuleFile | RulesError;
}

export function readSources(sources: RuleSources): readonly ReadFile[] {
  const hosts: HostExecutable[] = [];
  return sources.directories.flatMap((place) =>
    listRuleFiles(place.directory).map((file) => {
      const read = readRuleFile(file, place, hosts);
      if (!(read.result instanceof RulesError)) hosts.push(...read.result.hosts);
      return read;
    }),
  );
}

export function assemble(sources: RuleSources, files: readonly ReadFile[]): Policy {
  const good = files
    .map(({ result }) => result)
    .filter((result): result is RuleFile => !(result instanceof RulesError));
  const bad = files.map(({ result }) => result).filter((result): result is RulesError => result instanceof RulesError);
  const confirmed = new Set([
    ...(sources.confirmed ?? []),
    ...(sources.confirmations === undefined ? [] : readConfirmations(sources.confirmations)),
  ]);
  const waiting = files.filter(({ restrictOnly, hash }) => restrictOnly && !confirmed.has(hash));
  return createPolicy([...good, ...(sources.more ?? [])], {
    broken: [...(sources.broken ?? []), ...bad],
    unconfirmed: new Set([...(sources.unconfirmed ?? []), ...waiting.map(({ file }) => file)]),
    ...(sources.trustedDirectories ? { trustedDirectories: sources.trustedDirectories } : {}),
  });
}

/**
 * Regular files whose extension is exactly `rules`, sorted by path. A file named only `.rules` has no extension; links
 * and folders are not read (Codex 0.171).
 */
export function listRuleFiles(directory: string): readonly string[] {
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw unreadable(directory, error);
  }
  return names
    .filter((name) => name.endsWith('.rules') && name !== '.rules')
    .map((name) => path.join(directory, name))
    .filter((file) => lstatSync(file, { throwIfNoEntry: false })?.isFile() ?? false)
    .sort();
}

function readRuleFile(file: string, place: RuleDirectory, hosts: readonly HostExecutable[]): ReadFile {
  const base = { file, layer: place.layer, restrictOnly: place.restrictOnly ?? false };
  try {
    const text = readRulesText(file);
    const hash = rulesHash(text);
    return { ...base, hash, result: parseRules(text, { file, layer: place.layer, hosts }) };
  } catch (error) {
    if (error instanceof RulesError) return { ...base, hash: '', result: error };
    throw error;
  }
}

/** @throws RulesError of kind `read_error`. */
export function readRulesText(file: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw unreadable(file, error);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new RulesError('read_error', 'could not read the file: it is not valid UTF-8', { file, line: 1, column: 1 });
  }
}

function unreadable(file: string, error: unknown): RulesError {
  const why =
    error instanceof Error ? error.message.replace(/^\w+: /, '').replace(/, \w+( '.*')?$/, '') : String(error);
  return new RulesError('read_error', `failed to read ${file}: ${why}`, { file, line: 1, column: 1 });
}

function isMissing(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** Changes when a file appears, goes, or is edited. Cheap: names, sizes and times. */
export function sourcesSignature(sources: RuleSources): string {
  const stamp = (file: string) => {
    try {
      const stat = statSync(file);
      return `${file}\0${stat.mtimeMs}\0${stat.ctimeMs}\0${stat.size}\0${stat.ino}`;
    } catch {
      return file; // reading it says what is wrong, if anything is
    }
  };
  const files = sources.directories.flatMap(({ directory }) => {
    try {
      return listRuleFiles(directory);
    } catch {
      return [path.join(directory, '(unreadable)')];
    }
  });
  return [...files, ...(sources.confirmations === undefined ? [] : [sources.confirmations])].map(stamp).join('\n');
}

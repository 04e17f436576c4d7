/**
 * The live policy of a process. Edits made by anyone take effect at the next question; while a file is broken its last
 * good version stays in force and one warning says so.
 */
import type { Policy } from './policy.js';
import { assemble, type ReadFile, type RuleSources, readSources, sourcesSignature } from './rule-files.js';
import { RulesError } from './rules/rule-error.js';

export interface PolicySourceOptions {
  /** Called once per new mistake, with a sentence for a person. */
  readonly onWarning?: (message: string) => void;
}

export interface PolicySource {
  /** The policy in force now. Looks at names, sizes and times of the files; reads them only when those changed. */
  current(): Policy;
}

/** Loads at once. At the start a broken file has no last good version: it is listed in `policy.broken`. */
export function createPolicySource(sources: RuleSources, options: PolicySourceOptions = {}): PolicySource {
  let signature = sourcesSignature(sources);
  let files = readSources(sources);
  let policy = assemble(sources, files);
  const warned = new Set<string>();
  warnAbout(files, warned, options);
  return {
    current() {
      const next = sourcesSignature(sources);
      if (next === signature) return policy;
      signature = next;
      const read = readSources(sources);
      warnAbout(read, warned, options);
      files = keepGood(files, read);
      policy = assemble(sources, files);
      return policy;
    },
  };
}

function keepGood(before: readonly ReadFile[], after: readonly ReadFile[]): readonly ReadFile[] {
  return after.map((file) => {
    if (!(file.result instanceof RulesError)) return file;
    const old = before.find((candidate) => candidate.file === file.file);
    return old && !(old.result instanceof RulesError) ? old : file;
  });
}

function warnAbout(files: readonly ReadFile[], warned: Set<string>, { onWarning }: PolicySourceOptions): void {
  const broken = new Map(
    files.filter(({ result }) => result instanceof RulesError).map(({ file, result }) => [file, result as RulesError]),
  );
  // Once repaired, the next mistake is news again.
  for (const key of warned) if (![...broken.values()].some((error) => error.message === key)) warned.delete(key);
  for (const error of broken.values()) {
    if (warned.has(error.message)) continue;
    warned.add(error.message);
    onWarning?.(`rules file not applied: ${error.message}`);
  }
}

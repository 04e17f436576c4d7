/** Rules text to rules, with the examples of every rule checked. */
import { BUILTINS } from './builtins.js';
import { type CallSite, evaluate } from './evaluate.js';
import { parse } from './parse.js';
import { resolveNames } from './resolve.js';
import type { HostExecutable, RuleExamples, RuleFile, RuleLayer } from './rule.js';
import { lineText, Mistake, positionOf, RulesError, type SourcePosition } from './rule-error.js';
import { type Collected, ruleFunctions } from './rule-functions.js';
import { matchesRule } from './rule-match.js';
import { joinWords } from './words.js';

export interface ParseRulesOptions {
  /** Name in messages and origins; default `<rules>`. */
  readonly file?: string;
  readonly layer?: RuleLayer;
  /** Declared by earlier files; examples see them. */
  readonly hosts?: readonly HostExecutable[];
  /** For examples with a relative program. */
  readonly cwd?: string;
}

/**
 * Reads one `.rules` file. Each file is its own module; rules and host executables accumulate over files.
 * @throws RulesError with file, line, column and, for a failed example, the example.
 */
export function parseRules(text: string, options: ParseRulesOptions = {}): RuleFile {
  const file = options.file ?? '<rules>';
  const layer = options.layer ?? 'user';
  const collected: Collected = { rules: [], network: [], hosts: [], examples: [] };
  const site: CallSite = { offset: 0 };
  const lines = new LineIndex(file, text);
  const functions = ruleFunctions(collected, site, (offset) => ({ ...lines.at(offset), layer }));
  try {
    const program = parse(text);
    resolveNames(program, new Set([...BUILTINS.keys(), ...functions.keys()]));
    evaluate(program, new Map([...BUILTINS, ...functions]), site);
  } catch (error) {
    throw asRulesError(error, file, text, site);
  }
  const hosts = hostTable([...(options.hosts ?? []), ...collected.hosts]);
  for (const examples of collected.examples) checkExamples(examples, hosts, options.cwd ?? '/', text);
  return { file, layer, ...collected };
}

/** The paths per name; a later declaration replaces an earlier one. */
export function hostTable(hosts: readonly HostExecutable[]): ReadonlyMap<string, readonly string[]> {
  return new Map(hosts.map(({ name, paths }) => [name, paths]));
}

/** Line starts found once, so that thousands of rules cost a binary search each. */
class LineIndex {
  readonly #file: string;
  readonly #starts = [0];

  constructor(file: string, text: string) {
    this.#file = file;
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) this.#starts.push(at + 1);
  }

  at(offset: number): SourcePosition {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { file: this.#file, line: low + 1, column: offset - this.#starts[low]! + 1 };
  }
}

function asRulesError(error: unknown, file: string, text: string, site: CallSite): unknown {
  const mistake = error instanceof RangeError ? new Mistake('limit', 'the file nests too deeply', site.offset) : error;
  if (!(mistake instanceof Mistake)) return error;
  const at = positionOf(file, text, mistake.offset ?? site.offset);
  return new RulesError(mistake.kind, mistake.message, at, { sourceLine: lineText(text, at.line) });
}

/** `not_match` before `match`, each against this rule alone (Codex 0.171). */
function checkExamples(
  examples: RuleExamples,
  hosts: ReadonlyMap<string, readonly string[]>,
  cwd: string,
  text: string,
): void {
  const { rule } = examples;
  const fits = (words: readonly string[]) => matchesRule(rule, words, { hosts, cwd }) !== undefined;
  const more = (failed: readonly (readonly string[])[]) => ({
    sourceLine: lineText(text, rule.origin.line),
    examples: failed.map(joinWords),
  });
  const offender = examples.notMatch.find(fits);
  if (offender) {
    const detail = `expected example to not match rule ${printPattern(rule.pattern)}: ${joinWords(offender)}`;
    throw new RulesError('example_did_match', detail, rule.origin, more([offender]));
  }
  const missed = examples.match.filter((words) => !fits(words));
  if (missed.length > 0) {
    const list = missed.map(joinWords).join(', ');
    const detail = `expected every example to match ${printPattern(rule.pattern)}, these did not match: ${list}`;
    throw new RulesError('example_did_not_match', detail, rule.origin, more(missed));
  }
}

/** A pattern as it is written in a file. */
export function printPattern(pattern: readonly (readonly string[])[]): string {
  const places = pattern.map((words) =>
    words.length === 1 ? JSON.stringify(words[0]) : `[${words.map((word) => JSON.stringify(word)).join(', ')}]`,
  );
  return `[${places.join(', ')}]`;
}

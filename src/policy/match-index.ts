/**
 * All rules of a policy, indexed by their words: a lookup costs as much as the command has words, however many rules
 * there are. Results come in the order file, then declaration.
 */
import type { PrefixRule } from './rules/rule.js';

/** Alternatives multiply; beyond this many paths a rule is kept in a list and compared on its own. */
const MAX_PATHS = 256;

interface Node {
  readonly next: Map<string, Node>;
  readonly ends: Entry[];
}

interface Entry {
  readonly order: number;
  readonly rule: PrefixRule;
}

export class MatchIndex {
  readonly #root: Node = newNode();
  readonly #wide = new Map<string, Entry[]>();
  readonly #firsts = new Map<string, PrefixRule[]>();
  #size = 0;

  constructor(rules: Iterable<PrefixRule>) {
    for (const rule of rules) this.#add(rule);
  }

  get size(): number {
    return this.#size;
  }

  /** Rules whose pattern begins with this word. */
  startingWith(word: string): readonly PrefixRule[] {
    return this.#firsts.get(word) ?? [];
  }

  /** Rules that match these words, in order. */
  lookup(words: readonly string[]): readonly PrefixRule[] {
    const first = words[0];
    if (first === undefined) return [];
    const found: Entry[] = [];
    let node: Node | undefined = this.#root;
    for (const word of words) {
      node = node.next.get(word);
      if (!node) break;
      if (node.ends.length > 0) found.push(...node.ends);
    }
    for (const entry of this.#wide.get(first) ?? []) if (fits(entry.rule, words)) found.push(entry);
    if (found.length > 1) found.sort((a, b) => a.order - b.order);
    return found.map((entry) => entry.rule);
  }

  /** A word listed twice among the first alternatives counts twice (Codex 0.171: one rule per first word). */
  #add(rule: PrefixRule): void {
    const [first = [], ...rest] = rule.pattern;
    const places = rest.map((words) => [...new Set(words)]);
    const paths = places.reduce((product, words) => product * words.length, 1);
    for (const word of first) {
      const entry = { order: this.#size++, rule };
      push(this.#firsts, word, rule);
      if (paths > MAX_PATHS) push(this.#wide, word, entry);
      else insert(child(this.#root, word), places, entry);
    }
  }
}

function newNode(): Node {
  return { next: new Map(), ends: [] };
}

function child(node: Node, word: string): Node {
  let next = node.next.get(word);
  if (!next) node.next.set(word, (next = newNode()));
  return next;
}

function insert(node: Node, places: readonly (readonly string[])[], entry: Entry): void {
  const [words, ...rest] = places;
  if (!words) node.ends.push(entry);
  else for (const word of words) insert(child(node, word), rest, entry);
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

function fits(rule: PrefixRule, words: readonly string[]): boolean {
  return (
    words.length >= rule.pattern.length && rule.pattern.every((alternatives, i) => alternatives.includes(words[i]!))
  );
}

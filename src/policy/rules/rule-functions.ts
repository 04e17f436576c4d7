/** `prefix_rule`, `network_rule` and `host_executable`: the calls a rules file makes. */
import { bindArguments, type Signature } from './builtins.js';
import type { CallSite } from './evaluate.js';
import type {
  HostExecutable,
  NetworkProtocol,
  NetworkRule,
  PrefixRule,
  RuleDecision,
  RuleExamples,
  RuleOrigin,
} from './rule.js';
import { Mistake } from './rule-error.js';
import { type CallArguments, Callable, List, typeName, type Value } from './values.js';
import { splitWords } from './words.js';

/** Rules per file; a file may come from a repository. */
export const MAX_RULES = 100_000;

/** What a run of a file collects. */
export interface Collected {
  readonly rules: PrefixRule[];
  readonly network: NetworkRule[];
  readonly hosts: HostExecutable[];
  readonly examples: RuleExamples[];
}

export function ruleFunctions(
  collected: Collected,
  site: CallSite,
  origin: (offset: number) => RuleOrigin,
): ReadonlyMap<string, Value> {
  const define = (signature: Signature, run: (bound: ReadonlyMap<string, Value>, from: RuleOrigin) => void) =>
    [
      signature.function,
      new Callable(signature.function, (args: CallArguments) => {
        const { offset } = site;
        run(bindArguments(signature, args), origin(offset));
        if (collected.rules.length + collected.network.length + collected.hosts.length > MAX_RULES) {
          throw new Mistake('limit', `a file may not declare more than ${MAX_RULES} rules`, offset);
        }
        return null;
      }),
    ] as const;
  return new Map([
    define(PREFIX_RULE, (bound, from) => addPrefixRule(collected, bound, from)),
    define(NETWORK_RULE, (bound, from) => collected.network.push(networkRule(bound, from))),
    define(HOST_EXECUTABLE, (bound, from) => collected.hosts.push(hostExecutable(bound, from))),
  ]);
}

const PREFIX_RULE: Signature = {
  function: 'prefix_rule',
  parameters: [
    { name: 'pattern', type: 'list' },
    { name: 'decision', type: 'str', optional: true },
    { name: 'match', type: 'list', optional: true },
    { name: 'not_match', type: 'list', optional: true },
    { name: 'justification', type: 'str', optional: true },
  ],
};
const NETWORK_RULE: Signature = {
  function: 'network_rule',
  parameters: [
    { name: 'host', type: 'str' },
    { name: 'protocol', type: 'str' },
    { name: 'decision', type: 'str' },
    { name: 'justification', type: 'str', optional: true },
  ],
};
const HOST_EXECUTABLE: Signature = {
  function: 'host_executable',
  parameters: [
    { name: 'name', type: 'str' },
    { name: 'paths', type: 'list' },
  ],
};

function listOf(value: Value | undefined): readonly Value[] {
  return value instanceof List ? value.items : [];
}

function textOf(value: Value | undefined): string {
  return typeof value === 'string' ? value : '';
}

// ---- prefix_rule

function addPrefixRule(collected: Collected, bound: ReadonlyMap<string, Value>, origin: RuleOrigin): void {
  const rule: PrefixRule = {
    pattern: patternOf(listOf(bound.get('pattern'))),
    decision: decisionOf(bound.has('decision') ? textOf(bound.get('decision')) : 'allow'),
    ...justificationOf(bound),
    origin,
  };
  const match = listOf(bound.get('match')).map(exampleOf);
  const notMatch = listOf(bound.get('not_match')).map(exampleOf);
  collected.rules.push(rule);
  if (match.length + notMatch.length > 0) collected.examples.push({ rule, match, notMatch });
}

function patternOf(items: readonly Value[]): PrefixRule['pattern'] {
  if (items.length === 0) throw new Mistake('invalid_pattern', 'invalid pattern element: pattern cannot be empty');
  return items.map((item) => {
    if (typeof item === 'string') return [item];
    if (!(item instanceof List)) {
      throw new Mistake(
        'invalid_pattern',
        `invalid pattern element: pattern element must be a string or list of strings (got ${typeName(item)})`,
      );
    }
    if (item.items.length === 0) {
      throw new Mistake('invalid_pattern', 'invalid pattern element: pattern alternatives cannot be empty');
    }
    return item.items.map((word) => {
      if (typeof word === 'string') return word;
      const got = typeName(word);
      throw new Mistake(
        'invalid_pattern',
        `invalid pattern element: pattern alternative must be a string (got ${got})`,
      );
    });
  });
}

function decisionOf(text: string): RuleDecision {
  if (text === 'allow' || text === 'prompt' || text === 'forbidden') return text;
  throw new Mistake('invalid_decision', `invalid decision: ${text} (use allow, prompt or forbidden)`);
}

function justificationOf(bound: ReadonlyMap<string, Value>): { readonly justification?: string } {
  if (!bound.has('justification')) return {};
  const justification = textOf(bound.get('justification'));
  if (justification.trim() === '') throw new Mistake('invalid_rule', 'invalid rule: justification cannot be empty');
  return { justification };
}

function exampleOf(value: Value): readonly string[] {
  const bad = (why: string) => new Mistake('invalid_example', `invalid example: ${why}`);
  if (typeof value === 'string') {
    const words = splitWords(value);
    if (!words) throw bad('example string has invalid shell syntax');
    if (words.length === 0) throw bad('example cannot be an empty string');
    return words;
  }
  if (!(value instanceof List)) throw bad(`example must be a string or list of strings (got ${typeName(value)})`);
  if (value.items.length === 0) throw bad('example cannot be an empty list');
  return value.items.map((word) => {
    if (typeof word === 'string') return word;
    throw bad(`example tokens must be strings (got ${typeName(word)})`);
  });
}

// ---- network_rule

const PROTOCOLS: Readonly<Record<string, NetworkProtocol>> = {
  http: 'http',
  https: 'https',
  https_connect: 'https',
  'http-connect': 'https',
  socks5_tcp: 'socks5_tcp',
  socks5_udp: 'socks5_udp',
};

function networkRule(bound: ReadonlyMap<string, Value>, origin: RuleOrigin): NetworkRule {
  const protocolText = textOf(bound.get('protocol'));
  const host = hostOf(textOf(bound.get('host')));
  const protocol = Object.hasOwn(PROTOCOLS, protocolText) ? PROTOCOLS[protocolText] : undefined;
  if (!protocol) {
    throw invalidRule(`network_rule protocol must be one of http, https, socks5_tcp, socks5_udp (got ${protocolText})`);
  }
  const decision = textOf(bound.get('decision'));
  return {
    host,
    protocol,
    decision: decisionOf(decision === 'deny' ? 'forbidden' : decision),
    ...justificationOf(bound),
    origin,
  };
}

function invalidRule(why: string): Mistake {
  return new Mistake('invalid_rule', `invalid rule: ${why}`);
}

/** A host in the form the proxy compares: trimmed, lower-cased, without port, brackets or trailing dot. */
function hostOf(text: string): string {
  const host = text.trim();
  if (host === '') throw invalidRule('network_rule host cannot be empty');
  if (/:\/\/|[/?#]/.test(host))
    throw invalidRule('network_rule host must be a hostname or IP literal (without scheme or path)');
  if (host.includes('*')) throw invalidRule('network_rule host must be a specific host; wildcards are not allowed');
  if (/\s/.test(host)) throw invalidRule('network_rule host cannot contain whitespace');
  const plain = host.startsWith('[') ? unbracket(host) : withoutPort(host);
  const normal = plain.toLowerCase().replace(/\.$/, '');
  if (normal === '') throw invalidRule('network_rule host cannot be empty');
  return normal;
}

function unbracket(host: string): string {
  const end = host.indexOf(']');
  if (end === -1) throw invalidRule('network_rule host has an invalid bracketed IPv6 literal');
  const rest = host.slice(end + 1);
  if (rest !== '' && !/^:\d+$/.test(rest))
    throw invalidRule(`network_rule host contains an unsupported suffix: ${host}`);
  return host.slice(1, end);
}

function withoutPort(host: string): string {
  return host.split(':').length === 2 ? host.replace(/:\d+$/, '') : host;
}

// ---- host_executable

function hostExecutable(bound: ReadonlyMap<string, Value>, origin: RuleOrigin): HostExecutable {
  const name = textOf(bound.get('name'));
  if (name === '') throw invalidRule('host_executable name cannot be empty');
  if (/[/\\]/.test(name) || name === '.' || name === '..') {
    throw invalidRule(`host_executable name must be a bare executable name (got ${name})`);
  }
  const paths = listOf(bound.get('paths')).map((value) => {
    if (typeof value !== 'string') throw invalidRule(`host_executable paths must be strings (got ${typeName(value)})`);
    if (!value.startsWith('/')) throw invalidRule(`host_executable paths must be absolute (got ${value})`);
    const path = normalizePath(value);
    if (baseName(path) !== name) throw invalidRule(`host_executable path \`${value}\` must have basename \`${name}\``);
    return path;
  });
  return { name, paths, origin };
}

/** Lexical: `//`, `.`, `..` and a trailing `/` go; symbolic links stay. */
export function normalizePath(path: string): string {
  const out: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') out.pop();
    else if (part !== '' && part !== '.') out.push(part);
  }
  return `/${out.join('/')}`;
}

/** The last component, or an empty string for `/` and for a path that ends in `..`. */
export function baseName(path: string): string {
  const last = path.replace(/\/+$/, '').split('/').at(-1) ?? '';
  return last === '..' || last === '.' ? '' : last;
}

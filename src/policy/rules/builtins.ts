/** Global functions of the rules language, and the check of call arguments they share with the rule functions. */
import { attribute, attributeNames, setPair } from './methods.js';
import { Mistake } from './rule-error.js';
import {
  type CallArguments,
  Callable,
  compare,
  Dict,
  Float,
  integer,
  isNumber,
  iterate,
  List,
  numberOf,
  Range,
  repr,
  Tuple,
  toText,
  truth,
  typeName,
  type Value,
} from './values.js';

/** Type names in a signature; `any` takes everything. Messages use the name the file's author would write. */
export type ParameterType = 'any' | 'str' | 'list' | 'int' | 'bool';
export interface Signature {
  readonly function: string;
  readonly parameters: readonly { readonly name: string; readonly type: ParameterType; readonly optional?: true }[];
}

const HOST_TYPE: Readonly<Record<Exclude<ParameterType, 'any'>, string>> = {
  str: 'string',
  list: 'list',
  int: 'int',
  bool: 'bool',
};

/** Arguments by name, checked against the signature. An absent optional argument is absent from the result. */
export function bindArguments(signature: Signature, args: CallArguments): Map<string, Value> {
  const bound = new Map<string, Value>();
  const { parameters } = signature;
  for (const [i, value] of args.positional.entries()) {
    const parameter = parameters[i];
    if (parameter) bound.set(parameter.name, value);
  }
  for (const [name, value] of args.named) {
    if (!parameters.some((parameter) => parameter.name === name)) {
      throw new Mistake(
        'unknown_argument',
        `found \`${name}\` extra named parameter(s) for call to ${signature.function}`,
      );
    }
    if (bound.has(name)) throw new Mistake('type_error', `argument \`${name}\` occurs more than once`);
    bound.set(name, value);
  }
  for (const { name, type, optional } of parameters) {
    const value = bound.get(name);
    if (value === undefined) {
      if (optional) continue;
      throw new Mistake('missing_argument', `missing parameter \`${name}\` for call to \`${signature.function}\``);
    }
    if (type !== 'any' && typeName(value) !== HOST_TYPE[type]) {
      const actual = `${typeName(value)} (repr: ${repr(value).slice(0, 200)})`;
      throw new Mistake(
        'type_error',
        `type of parameter \`${name}\` doesn't match, expected \`${type}\`, actual \`${actual}\``,
      );
    }
  }
  if (args.positional.length > parameters.length) {
    throw new Mistake('type_error', `wrong type of call: too many positional arguments for ${signature.function}`);
  }
  return bound;
}

type Builtin = (args: CallArguments) => Value;

function first(args: CallArguments, fallback?: Value): Value {
  const value = args.positional[0] ?? fallback;
  if (value === undefined) throw new Mistake('missing_argument', 'missing argument');
  return value;
}

function extreme(args: CallArguments, sign: 1 | -1): Value {
  const items = args.positional.length > 1 ? args.positional : iterate(first(args));
  const key = args.named.get('key');
  const rank = (item: Value) => (key instanceof Callable ? key.call({ positional: [item], named: new Map() }) : item);
  if (items.length === 0) throw new Mistake('runtime_error', 'argument is empty');
  return items.reduce((best, item) => (sign * compare(rank(item), rank(best)) > 0 ? item : best));
}

function sorted(args: CallArguments): Value {
  const key = args.named.get('key');
  const reverse = truth(args.named.get('reverse') ?? false);
  const ranked = iterate(first(args)).map((item) => ({
    item,
    rank: key instanceof Callable ? key.call({ positional: [item], named: new Map() }) : item,
  }));
  ranked.sort((a, b) => (reverse ? -1 : 1) * compare(a.rank, b.rank));
  return new List(ranked.map(({ item }) => item));
}

function toInteger(args: CallArguments): Value {
  const value = first(args, 0);
  const base = args.positional[1] ?? args.named.get('base') ?? 10;
  if (typeof value === 'boolean') return Number(value);
  if (isNumber(value)) return integer(Math.trunc(numberOf(value)));
  if (typeof value !== 'string' || typeof base !== 'number')
    throw new Mistake('type_error', 'int expects a string or number');
  const digits = value.replaceAll('_', '').replace(/^([+-]?)0[xXoObB]/, '$1');
  const parsed = Number.parseInt(digits, base === 0 ? 10 : base);
  if (!/^[+-]?[0-9a-zA-Z]+$/.test(digits) || Number.isNaN(parsed))
    throw new Mistake('runtime_error', `\`${value}\` is not an int`);
  return integer(parsed);
}

function range(args: CallArguments): Value {
  const numbers = args.positional.map((value) => {
    if (typeof value !== 'number') throw new Mistake('type_error', `range expects ints, got \`${typeName(value)}\``);
    return value;
  });
  const [start, stop, step] = numbers.length === 1 ? [0, numbers[0], 1] : [numbers[0], numbers[1], numbers[2] ?? 1];
  if (start === undefined || stop === undefined) throw new Mistake('missing_argument', 'missing argument of range');
  if (step === 0) throw new Mistake('runtime_error', 'range step cannot be zero');
  return new Range(start, stop, step!);
}

function zip(args: CallArguments): Value {
  const lists = args.positional.map(iterate);
  const length = lists.length === 0 ? 0 : Math.min(...lists.map((list) => list.length));
  return new List(Array.from({ length }, (_, i) => new Tuple(lists.map((list) => list[i]!))));
}

function length(value: Value): number {
  if (typeof value === 'string') return [...value].length;
  if (value instanceof Range) return value.length;
  if (value instanceof Dict) return value.entries.size;
  if (value instanceof List || value instanceof Tuple) return value.items.length;
  throw new Mistake('type_error', `operation \`len()\` not supported on type \`${typeName(value)}\``);
}

function hash(value: Value): number {
  if (typeof value !== 'string') throw new Mistake('type_error', 'hash expects a string');
  return [...value].reduce((sum, char) => (Math.imul(sum, 31) + char.codePointAt(0)!) | 0, 0);
}

function dict(args: CallArguments): Value {
  const made = new Dict();
  const from = args.positional[0];
  if (from instanceof Dict) for (const [key, value] of from.entries.values()) made.set(key, value);
  else if (from !== undefined) for (const pair of iterate(from)) setPair(made, pair);
  for (const [name, value] of args.named) made.set(name, value);
  return made;
}

function getAttribute(args: CallArguments): Value {
  const name = args.positional[1];
  const value = typeof name === 'string' ? attribute(first(args), name) : undefined;
  const result = value ?? args.positional[2];
  if (result === undefined) throw new Mistake('type_error', `no attribute \`${toText(name ?? null)}\``);
  return result;
}

function absolute(value: Value): Value {
  if (typeof value === 'number') return Math.abs(value);
  if (value instanceof Float) return new Float(Math.abs(value.value));
  throw new Mistake('type_error', `abs expects a number, got \`${typeName(value)}\``);
}

function character(value: Value): Value {
  if (typeof value !== 'number' || value < 0 || value > 0x10ffff)
    throw new Mistake('type_error', 'chr expects a code point');
  return String.fromCodePoint(value);
}

function codePoint(value: Value): Value {
  if (typeof value !== 'string' || [...value].length !== 1)
    throw new Mistake('type_error', 'ord expects one character');
  return value.codePointAt(0)!;
}

const FUNCTIONS: Readonly<Record<string, Builtin>> = {
  abs: (args) => absolute(first(args)),
  all: (args) => iterate(first(args)).every(truth),
  any: (args) => iterate(first(args)).some(truth),
  bool: (args) => truth(first(args, false)),
  chr: (args) => character(first(args)),
  dict,
  dir: (args) => new List(attributeNames(first(args))),
  enumerate(args) {
    const start = args.positional[1] ?? args.named.get('start') ?? 0;
    return new List(
      iterate(first(args)).map((item, i) => new Tuple([(typeof start === 'number' ? start : 0) + i, item])),
    );
  },
  fail(args) {
    throw new Mistake('fail_called', `fail: ${args.positional.map(toText).join(' ')}`);
  },
  float(args) {
    const value = first(args, 0);
    const number = typeof value === 'string' ? Number(value) : isNumber(value) ? numberOf(value) : Number.NaN;
    if (Number.isNaN(number)) throw new Mistake('runtime_error', `\`${toText(value)}\` is not a float`);
    return new Float(number);
  },
  getattr: getAttribute,
  hasattr: (args) => typeof args.positional[1] === 'string' && attribute(first(args), args.positional[1]) !== undefined,
  hash: (args) => hash(first(args)),
  int: toInteger,
  len: (args) => length(first(args)),
  list: (args) => new List([...iterate(first(args, new List([])))]),
  max: (args) => extreme(args, 1),
  min: (args) => extreme(args, -1),
  ord: (args) => codePoint(first(args)),
  range,
  repr: (args) => repr(first(args)),
  reversed: (args) => new List([...iterate(first(args))].reverse()),
  sorted,
  str: (args) => toText(first(args, '')),
  tuple: (args) => new Tuple([...iterate(first(args, new Tuple([])))]),
  type: (args) => typeName(first(args)),
  zip,
};

export const BUILTINS: ReadonlyMap<string, Value> = new Map(
  Object.entries(FUNCTIONS).map(([name, call]) => [name, new Callable(name, call)]),
);

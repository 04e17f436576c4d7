/** Operators, indexing and slicing. */

import { genericOf, unionOf } from './annotations.js';
import { Mistake } from './rule-error.js';
import {
  compare,
  Dict,
  equals,
  Float,
  hashKey,
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

const MAX_LENGTH = 1_000_000;

export function apply(operator: string, left: Value, right: Value): Value {
  switch (operator) {
    case '==':
      return equals(left, right);
    case '!=':
      return !equals(left, right);
    case '<':
      return compare(left, right) < 0;
    case '>':
      return compare(left, right) > 0;
    case '<=':
      return compare(left, right) <= 0;
    case '>=':
      return compare(left, right) >= 0;
    case 'in':
      return contains(right, left);
    case 'not in':
      return !contains(right, left);
    case '+':
      return add(left, right);
    case '*':
      return multiply(left, right);
    case '%':
      return typeof left === 'string' ? interpolate(left, right) : arithmetic('%', left, right);
    case '|':
      return union(left, right);
    default:
      return arithmetic(operator, left, right);
  }
}

export function unary(operator: string, value: Value): Value {
  if (operator === 'not') return !truth(value);
  if (typeof value === 'number') return operator === '-' ? integer(-value) : operator === '~' ? ~value : value;
  if (value instanceof Float && operator !== '~') return operator === '-' ? new Float(-value.value) : value;
  throw unsupported(operator, value);
}

function unsupported(operator: string, left: Value, right?: Value): Mistake {
  const types =
    right === undefined ? `type \`${typeName(left)}\`` : `types \`${typeName(left)}\` and \`${typeName(right)}\``;
  return new Mistake('type_error', `operation \`${operator}\` not supported on ${types}`);
}

function contains(container: Value, item: Value): boolean {
  if (typeof container === 'string') {
    if (typeof item !== 'string') throw unsupported('in', item, container);
    return container.includes(item);
  }
  if (container instanceof Dict) return container.entries.has(hashKey(item));
  return iterate(container).some((other) => equals(other, item));
}

function add(left: Value, right: Value): Value {
  if (isNumber(left) && isNumber(right)) return arithmetic('+', left, right);
  if (typeof left === 'string' && typeof right === 'string')
    return bounded(left.length + right.length, () => left + right);
  if (left instanceof List && right instanceof List) {
    return bounded(left.items.length + right.items.length, () => new List([...left.items, ...right.items]));
  }
  if (left instanceof Tuple && right instanceof Tuple) {
    return bounded(left.items.length + right.items.length, () => new Tuple([...left.items, ...right.items]));
  }
  throw unsupported('+', left, right);
}

function bounded(length: number, make: () => Value): Value {
  if (length > MAX_LENGTH) throw new Mistake('limit', `a value may not be longer than ${MAX_LENGTH}`);
  return make();
}

function multiply(left: Value, right: Value): Value {
  if (isNumber(left) && isNumber(right)) return arithmetic('*', left, right);
  const [many, value] = typeof left === 'number' ? [left, right] : [right, left];
  if (typeof many !== 'number') throw unsupported('*', left, right);
  const count = Math.max(0, many);
  if (typeof value === 'string') return bounded(value.length * count, () => value.repeat(count));
  if (!(value instanceof List) && !(value instanceof Tuple)) throw unsupported('*', left, right);
  return bounded(value.items.length * count, () => {
    const items = Array.from({ length: count }, () => value.items).flat();
    return value instanceof List ? new List(items) : new Tuple(items);
  });
}

function union(left: Value, right: Value): Value {
  if (left instanceof Dict && right instanceof Dict) {
    const made = new Dict();
    for (const { entries } of [left, right]) for (const [key, value] of entries.values()) made.set(key, value);
    return made;
  }
  if (typeof left === 'number' && typeof right === 'number') return arithmetic('|', left, right);
  return unionOf(left, right);
}

function arithmetic(operator: string, left: Value, right: Value): Value {
  if (!isNumber(left) || !isNumber(right)) throw unsupported(operator, left, right);
  const a = numberOf(left);
  const b = numberOf(right);
  const exact = typeof left === 'number' && typeof right === 'number';
  const made = (value: number): Value => (exact ? integer(value) : new Float(value));
  if (['/', '//', '%'].includes(operator) && b === 0) {
    const name = operator === '//' ? 'floor division' : operator === '%' ? 'modulo' : 'division';
    throw new Mistake('runtime_error', `${name} by zero: ${repr(left)} ${operator} ${repr(right)}`);
  }
  if (operator === '+') return made(a + b);
  if (operator === '-') return made(a - b);
  if (operator === '*') return made(a * b);
  if (operator === '/') return new Float(a / b);
  if (operator === '//') return made(Math.floor(a / b));
  if (operator === '%') return made(a - b * Math.floor(a / b));
  if (!exact) throw unsupported(operator, left, right);
  if (operator === '&') return a & b;
  if (operator === '|') return a | b;
  if (operator === '^') return a ^ b;
  if (b < 0 || b > 50) throw new Mistake('runtime_error', 'shift count out of range');
  return operator === '<<' ? integer(a * 2 ** b) : Math.floor(a / 2 ** b);
}

function interpolate(template: string, value: Value): Value {
  const values = value instanceof Tuple ? [...value.items] : [value];
  const text = template.replace(/%[%srdxo]/g, (field) => {
    if (field === '%%') return '%';
    const next = values.shift();
    if (next === undefined) throw new Mistake('runtime_error', 'not enough values for the % fields');
    if (field === '%r') return repr(next);
    if (field === '%s') return toText(next);
    if (typeof next !== 'number') throw new Mistake('type_error', `${field} expects an int`);
    return next.toString(field === '%x' ? 16 : field === '%o' ? 8 : 10);
  });
  if (values.length > 0) throw new Mistake('runtime_error', 'too many values for the % fields');
  return text;
}

export function indexValue(object: Value, index: Value): Value {
  if (object instanceof Dict) {
    const value = object.get(index);
    if (value === undefined) throw new Mistake('runtime_error', `key \`${repr(index)}\` not found in dict`);
    return value;
  }
  const generic = genericOf(object, index);
  if (generic) return generic;
  const items = sequence(object);
  if (typeof index !== 'number') throw unsupported('[]', object, index);
  const value = items[index < 0 ? index + items.length : index];
  if (value === undefined) throw new Mistake('runtime_error', `index \`${index}\` is out of bound`);
  return value;
}

function sequence(object: Value): readonly Value[] {
  if (typeof object === 'string') return [...object];
  if (object instanceof List || object instanceof Tuple || object instanceof Range) return iterate(object);
  throw unsupported('[]', object);
}

export function sliceValue(object: Value, bounds: readonly (Value | undefined)[]): Value {
  const items = sequence(object);
  const [start, stop, step = 1] = bounds.map((bound) => {
    if (bound === undefined || bound === null) return undefined;
    if (typeof bound !== 'number') throw new Mistake('type_error', 'slice bounds must be a int');
    return bound;
  });
  if (step === 0) throw new Mistake('runtime_error', 'slice step cannot be zero');
  const clamp = (value: number, low: number, high: number) =>
    Math.min(high, Math.max(low, value < 0 ? value + items.length : value));
  const picked: Value[] = [];
  if (step > 0) {
    const end = clamp(stop ?? items.length, 0, items.length);
    for (let at = clamp(start ?? 0, 0, items.length); at < end; at += step) picked.push(items[at]!);
  } else {
    const end = stop === undefined ? -1 : clamp(stop, -1, items.length - 1);
    for (let at = clamp(start ?? items.length - 1, -1, items.length - 1); at > end; at += step) picked.push(items[at]!);
  }
  if (typeof object === 'string') return picked.join('');
  return object instanceof Tuple ? new Tuple(picked) : new List(picked);
}

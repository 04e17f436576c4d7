/** Values of the rules language. None, booleans, integers and strings are the host's own. */
import { Mistake } from './rule-error.js';

export type Value = null | boolean | number | string | Float | List | Tuple | Dict | Range | Callable | TypeValue;

export class Float {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

export class List {
  readonly items: Value[];
  /** Loops running over it; changing it meanwhile is an error. */
  loops = 0;
  constructor(items: Value[]) {
    this.items = items;
  }
}

export class Tuple {
  readonly items: readonly Value[];
  constructor(items: readonly Value[]) {
    this.items = items;
  }
}

export class Dict {
  readonly entries = new Map<string, readonly [Value, Value]>();
  loops = 0;
  get(key: Value): Value | undefined {
    return this.entries.get(hashKey(key))?.[1];
  }
  set(key: Value, value: Value): void {
    this.entries.set(hashKey(key), [key, value]);
  }
}

export class Range {
  readonly start: number;
  readonly step: number;
  readonly length: number;
  constructor(start: number, stop: number, step: number) {
    this.start = start;
    this.step = step;
    this.length = Math.max(0, Math.ceil((stop - start) / step));
  }
}

export interface CallArguments {
  readonly positional: readonly Value[];
  readonly named: ReadonlyMap<string, Value>;
}

export class Callable {
  readonly name: string;
  readonly call: (args: CallArguments) => Value;
  constructor(name: string, call: (args: CallArguments) => Value) {
    this.name = name;
    this.call = call;
  }
}

/** `list[str]`, `int | None`: an annotation, checked at calls. */
export class TypeValue {
  readonly text: string;
  readonly accepts: (value: Value) => boolean;
  constructor(text: string, accepts: (value: Value) => boolean) {
    this.text = text;
    this.accepts = accepts;
  }
}

export function typeName(value: Value): string {
  if (value === null) return 'NoneType';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return 'int';
  if (typeof value === 'string') return 'string';
  if (value instanceof Float) return 'float';
  if (value instanceof List) return 'list';
  if (value instanceof Tuple) return 'tuple';
  if (value instanceof Dict) return 'dict';
  if (value instanceof Range) return 'range';
  return value instanceof Callable ? 'function' : 'type';
}

export function truth(value: Value): boolean {
  if (value === null || value === false || value === 0 || value === '') return false;
  if (value instanceof Float) return value.value !== 0;
  if (value instanceof List || value instanceof Tuple) return value.items.length > 0;
  if (value instanceof Dict) return value.entries.size > 0;
  return !(value instanceof Range) || value.length > 0;
}

/** The key a value has in a dict. Only values that cannot change have one. */
export function hashKey(value: Value): string {
  if (value === null) return 'n';
  if (typeof value === 'boolean') return value ? 'bt' : 'bf';
  if (typeof value === 'number') return `i${value}`;
  if (typeof value === 'string') return `s${value}`;
  if (value instanceof Float) return Number.isInteger(value.value) ? `i${value.value}` : `f${value.value}`;
  if (value instanceof Tuple) {
    const keys = value.items.map(hashKey);
    return `t${keys.map((key) => `${key.length}:${key}`).join('')}`;
  }
  throw new Mistake('type_error', `type \`${typeName(value)}\` is not hashable`);
}

export function equals(a: Value, b: Value, depth = 0): boolean {
  if (depth > 100) throw new Mistake('recursion', 'recursion while comparing values');
  if (a === b) return true;
  if (isNumber(a) && isNumber(b)) return numberOf(a) === numberOf(b);
  if ((a instanceof List && b instanceof List) || (a instanceof Tuple && b instanceof Tuple)) {
    const { items } = b;
    return a.items.length === items.length && a.items.every((item, i) => equals(item, items[i]!, depth + 1));
  }
  if (a instanceof Dict && b instanceof Dict) {
    return (
      a.entries.size === b.entries.size &&
      [...a.entries.values()].every(([key, value]) => {
        const other = b.get(key);
        return other !== undefined && equals(value, other, depth + 1);
      })
    );
  }
  return a instanceof Range && b instanceof Range && a.start === b.start && a.step === b.step && a.length === b.length;
}

/** Negative, zero or positive, as a sort wants it. */
export function compare(a: Value, b: Value): number {
  if (isNumber(a) && isNumber(b)) return numberOf(a) - numberOf(b);
  if (typeof a === 'string' && typeof b === 'string') return compareCodePoints(a, b);
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if ((a instanceof List && b instanceof List) || (a instanceof Tuple && b instanceof Tuple)) {
    for (let i = 0; i < Math.min(a.items.length, b.items.length); i++) {
      const order = compare(a.items[i]!, b.items[i]!);
      if (order !== 0) return order;
    }
    return a.items.length - b.items.length;
  }
  throw new Mistake(
    'type_error',
    `operation \`compare\` not supported on types \`${typeName(a)}\` and \`${typeName(b)}\``,
  );
}

function compareCodePoints(a: string, b: string): number {
  const left = [...a];
  const right = [...b];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const order = left[i]!.codePointAt(0)! - right[i]!.codePointAt(0)!;
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

export function isNumber(value: Value): value is number | Float {
  return typeof value === 'number' || value instanceof Float;
}

export function numberOf(value: number | Float): number {
  return typeof value === 'number' ? value : value.value;
}

/** An integer, or a mistake when it no longer is exact. */
export function integer(value: number): number {
  if (!Number.isSafeInteger(value)) throw new Mistake('limit', 'integer is too large');
  return value === 0 ? 0 : value;
}

/** `str(x)`: strings as they are, everything else as `repr`. */
export function toText(value: Value): string {
  return typeof value === 'string' ? value : repr(value);
}

export function repr(value: Value, depth = 0): string {
  if (depth > 50) return '…';
  const inner = (items: readonly Value[]) => items.map((item) => repr(item, depth + 1)).join(', ');
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Float) return Number.isInteger(value.value) ? value.value.toFixed(1) : String(value.value);
  if (value instanceof List) return `[${inner(value.items)}]`;
  if (value instanceof Tuple) return value.items.length === 1 ? `(${inner(value.items)},)` : `(${inner(value.items)})`;
  if (value instanceof Dict) {
    const entries = [...value.entries.values()].map(
      ([key, item]) => `${repr(key, depth + 1)}: ${repr(item, depth + 1)}`,
    );
    return `{${entries.join(', ')}}`;
  }
  if (value instanceof Range) {
    const stop = value.start + value.length * value.step;
    if (value.step !== 1) return `range(${value.start}, ${stop}, ${value.step})`;
    return value.start === 0 ? `range(${stop})` : `range(${value.start}, ${stop})`;
  }
  return value instanceof Callable ? `<function ${value.name}>` : value.text;
}

/** The items of something that can be looped over. */
export function iterate(value: Value): readonly Value[] {
  if (value instanceof List || value instanceof Tuple) return value.items;
  if (value instanceof Dict) return [...value.entries.values()].map(([key]) => key);
  if (value instanceof Range) {
    if (value.length > 1_000_000) throw new Mistake('limit', 'range is too long');
    return Array.from({ length: value.length }, (_, i) => value.start + i * value.step);
  }
  throw new Mistake('type_error', `operation \`iterate\` not supported on type \`${typeName(value)}\``);
}

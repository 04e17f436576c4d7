/** Methods of strings, lists and dicts. */
import { Mistake } from './rule-error.js';
import {
  type CallArguments,
  Callable,
  Dict,
  equals,
  iterate,
  List,
  Tuple,
  toText,
  typeName,
  type Value,
} from './values.js';

type Method<T> = (self: T, args: CallArguments) => Value;

/** `value.name`, or undefined when the type has no such attribute. */
export function attribute(value: Value, name: string): Value | undefined {
  const bind = <T>(table: Readonly<Record<string, Method<T>>>, self: T): Value | undefined => {
    const method = Object.hasOwn(table, name) ? table[name] : undefined;
    return method && new Callable(name, (args) => method(self, args));
  };
  if (typeof value === 'string') return bind(STRING_METHODS, value);
  if (value instanceof List) return bind(LIST_METHODS, value);
  return value instanceof Dict ? bind(DICT_METHODS, value) : undefined;
}

export function attributeNames(value: Value): string[] {
  const table =
    typeof value === 'string'
      ? STRING_METHODS
      : value instanceof List
        ? LIST_METHODS
        : value instanceof Dict
          ? DICT_METHODS
          : {};
  return Object.keys(table).sort();
}

function positional(args: CallArguments, index: number, fallback?: Value): Value {
  const value = args.positional[index] ?? fallback;
  if (value === undefined) throw new Mistake('missing_argument', `missing argument ${index + 1}`);
  return value;
}

function text(args: CallArguments, index: number, fallback?: string): string {
  const value = positional(args, index, fallback);
  if (typeof value !== 'string') throw new Mistake('type_error', `expected string, got \`${typeName(value)}\``);
  return value;
}

function whole(args: CallArguments, index: number, fallback?: number): number {
  const value = positional(args, index, fallback);
  if (typeof value !== 'number') throw new Mistake('type_error', `expected int, got \`${typeName(value)}\``);
  return value;
}

const strip = (value: string, characters: string | undefined, ends: 'both' | 'left' | 'right'): string => {
  const drop =
    characters === undefined ? (char: string) => char.trim() === '' : (char: string) => characters.includes(char);
  const points = [...value];
  let start = 0;
  let end = points.length;
  if (ends !== 'right') while (start < end && drop(points[start]!)) start++;
  if (ends !== 'left') while (end > start && drop(points[end - 1]!)) end--;
  return points.slice(start, end).join('');
};
const optionalText = (args: CallArguments): string | undefined =>
  args.positional.length === 0 ? undefined : text(args, 0);

function split(self: string, args: CallArguments): Value {
  const separator = args.positional[0] ?? null;
  const limit = whole(args, 1, -1);
  const pieces = separator === null ? self.trim().split(/\s+/).filter(Boolean) : self.split(text(args, 0));
  if (separator === '') throw new Mistake('runtime_error', 'empty separator');
  if (limit < 0 || pieces.length <= limit + 1) return new List(pieces);
  const rest = pieces.slice(limit).join(separator === null ? ' ' : (separator as string));
  return new List([...pieces.slice(0, limit), rest]);
}

function rsplit(self: string, args: CallArguments): Value {
  const limit = whole(args, 1, -1);
  const separator = args.positional[0] ?? null;
  const pieces = separator === null ? self.trim().split(/\s+/).filter(Boolean) : self.split(text(args, 0));
  if (limit < 0 || pieces.length <= limit + 1) return new List(pieces);
  const cut = pieces.length - limit;
  return new List([pieces.slice(0, cut).join(separator === null ? ' ' : (separator as string)), ...pieces.slice(cut)]);
}

function affix(args: CallArguments, test: (candidate: string) => boolean): boolean {
  const value = positional(args, 0);
  const candidates = value instanceof Tuple ? value.items : [value];
  return candidates.some((candidate) => {
    if (typeof candidate !== 'string')
      throw new Mistake('type_error', `expected string, got \`${typeName(candidate)}\``);
    return test(candidate);
  });
}

function format(self: string, args: CallArguments): Value {
  let next = 0;
  return self.replace(/\{\{|\}\}|\{([^{}]*)\}/g, (found, field: string | undefined) => {
    if (found === '{{' || found === '}}') return found[0]!;
    const name = field ?? '';
    const value =
      name === '' ? args.positional[next++] : /^\d+$/.test(name) ? args.positional[Number(name)] : args.named.get(name);
    if (value === undefined) throw new Mistake('runtime_error', `format has no argument for \`{${name}}\``);
    return toText(value);
  });
}

function indexOf(self: string, args: CallArguments, last: boolean): number {
  const at = last ? self.lastIndexOf(text(args, 0)) : self.indexOf(text(args, 0));
  return at === -1 ? -1 : [...self.slice(0, at)].length;
}

function found(position: number): number {
  if (position === -1) throw new Mistake('runtime_error', 'substring not found');
  return position;
}

const cased = (self: string, same: (value: string) => string): boolean => same(self) === self && /\p{L}/u.test(self);
const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase();

const STRING_METHODS: Readonly<Record<string, Method<string>>> = {
  capitalize: (self) => capital(self),
  count: (self, args) => self.split(text(args, 0)).length - 1,
  elems: (self) => new List([...self]),
  codepoints: (self) => new List([...self].map((char) => char.codePointAt(0)!)),
  endswith: (self, args) => affix(args, (suffix) => self.endsWith(suffix)),
  find: (self, args) => indexOf(self, args, false),
  format,
  index: (self, args) => found(indexOf(self, args, false)),
  isalnum: (self) => /^[\p{L}\p{N}]+$/u.test(self),
  isalpha: (self) => /^\p{L}+$/u.test(self),
  isdigit: (self) => /^\p{Nd}+$/u.test(self),
  islower: (self) => cased(self, (value) => value.toLowerCase()),
  isspace: (self) => self !== '' && self.trim() === '',
  istitle: (self) => self !== '' && self.replace(/\p{L}+/gu, capital) === self,
  isupper: (self) => cased(self, (value) => value.toUpperCase()),
  join: (self, args) =>
    iterate(positional(args, 0))
      .map((item) => {
        if (typeof item !== 'string') throw new Mistake('type_error', `expected string, got \`${typeName(item)}\``);
        return item;
      })
      .join(self),
  lower: (self) => self.toLowerCase(),
  lstrip: (self, args) => strip(self, optionalText(args), 'left'),
  partition: (self, args) => partition(self, text(args, 0), self.indexOf(text(args, 0))),
  removeprefix: (self, args) => (self.startsWith(text(args, 0)) ? self.slice(text(args, 0).length) : self),
  removesuffix: (self, args) =>
    text(args, 0) !== '' && self.endsWith(text(args, 0)) ? self.slice(0, -text(args, 0).length) : self,
  replace: (self, args) => replace(self, text(args, 0), text(args, 1), whole(args, 2, -1)),
  rfind: (self, args) => indexOf(self, args, true),
  rindex: (self, args) => found(indexOf(self, args, true)),
  rpartition: (self, args) => rpartition(self, text(args, 0)),
  rsplit,
  rstrip: (self, args) => strip(self, optionalText(args), 'right'),
  split,
  splitlines: (self) => new List(self.replace(/\r?\n$/, '').split(/\r?\n/)),
  startswith: (self, args) => affix(args, (prefix) => self.startsWith(prefix)),
  strip: (self, args) => strip(self, optionalText(args), 'both'),
  title: (self) => self.replace(/\p{L}+/gu, capital),
  upper: (self) => self.toUpperCase(),
};

function partition(self: string, separator: string, at: number): Value {
  if (at === -1) return new Tuple([self, '', '']);
  return new Tuple([self.slice(0, at), separator, self.slice(at + separator.length)]);
}

function rpartition(self: string, separator: string): Value {
  const at = self.lastIndexOf(separator);
  return at === -1 ? new Tuple(['', '', self]) : partition(self, separator, at);
}

function replace(self: string, from: string, to: string, count: number): string {
  const pieces = self.split(from);
  if ((pieces.length - 1) * to.length > 1_000_000) throw new Mistake('limit', 'string is too long');
  if (count < 0 || pieces.length - 1 <= count) return pieces.join(to);
  return [pieces.slice(0, count + 1).join(to), ...pieces.slice(count + 1)].join(from);
}

function changing(self: List | Dict): void {
  if (self.loops > 0) throw new Mistake('runtime_error', 'cannot change a value while looping over it');
}

function position(self: List, args: CallArguments, index: number, fallback?: number): number {
  const at = whole(args, index, fallback);
  return at < 0 ? Math.max(0, at + self.items.length) : Math.min(at, self.items.length);
}

const LIST_METHODS: Readonly<Record<string, Method<List>>> = {
  append(self, args) {
    changing(self);
    self.items.push(positional(args, 0));
    return null;
  },
  clear(self) {
    changing(self);
    self.items.length = 0;
    return null;
  },
  extend(self, args) {
    changing(self);
    for (const item of [...iterate(positional(args, 0))]) self.items.push(item);
    return null;
  },
  index(self, args) {
    const at = self.items.findIndex((item) => equals(item, positional(args, 0)));
    if (at === -1) throw new Mistake('runtime_error', 'value not found in list');
    return at;
  },
  insert(self, args) {
    changing(self);
    self.items.splice(position(self, args, 0), 0, positional(args, 1));
    return null;
  },
  pop(self, args) {
    changing(self);
    const at = whole(args, 0, -1);
    const from = at < 0 ? at + self.items.length : at;
    const [item] = from >= 0 && from < self.items.length ? self.items.splice(from, 1) : [];
    if (item === undefined) throw new Mistake('runtime_error', `index \`${at}\` is out of bound`);
    return item;
  },
  remove(self, args) {
    changing(self);
    const at = self.items.findIndex((item) => equals(item, positional(args, 0)));
    if (at === -1) throw new Mistake('runtime_error', 'value not found in list');
    self.items.splice(at, 1);
    return null;
  },
};

const DICT_METHODS: Readonly<Record<string, Method<Dict>>> = {
  clear(self) {
    changing(self);
    self.entries.clear();
    return null;
  },
  get: (self, args) => self.get(positional(args, 0)) ?? positional(args, 1, null),
  items: (self) => new List([...self.entries.values()].map((entry) => new Tuple(entry))),
  keys: (self) => new List([...self.entries.values()].map(([key]) => key)),
  pop(self, args) {
    changing(self);
    const value = self.get(positional(args, 0)) ?? args.positional[1];
    if (value === undefined) throw new Mistake('runtime_error', 'key not found in dict');
    removeKey(self, positional(args, 0));
    return value;
  },
  popitem(self) {
    changing(self);
    const [first] = self.entries.values();
    if (!first) throw new Mistake('runtime_error', 'dict is empty');
    removeKey(self, first[0]);
    return new Tuple(first);
  },
  setdefault(self, args) {
    changing(self);
    const existing = self.get(positional(args, 0));
    if (existing !== undefined) return existing;
    self.set(positional(args, 0), positional(args, 1, null));
    return positional(args, 1, null);
  },
  update(self, args) {
    changing(self);
    const from = args.positional[0];
    if (from instanceof Dict) for (const [key, value] of from.entries.values()) self.set(key, value);
    else if (from !== undefined) for (const pair of iterate(from)) setPair(self, pair);
    for (const [name, value] of args.named) self.set(name, value);
    return null;
  },
  values: (self) => new List([...self.entries.values()].map(([, value]) => value)),
};

/** Adds one `(key, value)` item. */
export function setPair(dict: Dict, pair: Value): void {
  const items = iterate(pair);
  if (items.length !== 2) throw new Mistake('type_error', 'expected a pair of key and value');
  dict.set(items[0]!, items[1]!);
}

function removeKey(dict: Dict, key: Value): void {
  for (const [hash, entry] of dict.entries) if (equals(entry[0], key)) dict.entries.delete(hash);
}

/** Type annotations: `int`, `str`, `list[str]`, `dict[str, int]`, `int | None`. Enforced when a function is called. */
import { Mistake } from './rule-error.js';
import { Callable, Dict, iterate, List, Tuple, TypeValue, typeName, type Value } from './values.js';

const NAMED: Readonly<Record<string, string>> = {
  int: 'int',
  str: 'string',
  bool: 'bool',
  float: 'float',
  list: 'list',
  dict: 'dict',
  tuple: 'tuple',
};

/** What an annotation's value accepts. */
export function annotationOf(value: Value): TypeValue {
  if (value instanceof TypeValue) return value;
  if (value === null) return new TypeValue('None', (candidate) => candidate === null);
  const name = value instanceof Callable ? NAMED[value.name] : undefined;
  if (value instanceof Callable && name !== undefined) {
    return new TypeValue(value.name, (candidate) => typeName(candidate) === name);
  }
  throw new Mistake('type_error', `type annotation expected, got \`${typeName(value)}\``);
}

/** `a | b` of two annotations. */
export function unionOf(left: Value, right: Value): Value {
  const a = annotationOf(left);
  const b = annotationOf(right);
  return new TypeValue(`${a.text} | ${b.text}`, (value) => a.accepts(value) || b.accepts(value));
}

/** `list[str]` and the like; undefined when the object is no type with parameters. */
export const genericOf = (object: Value, index: Value): TypeValue | undefined => {
  if (!(object instanceof Callable) || !['list', 'dict', 'tuple'].includes(object.name)) return undefined;
  const inner = (index instanceof Tuple ? index.items : [index]).map(annotationOf);
  const text = `${object.name}[${inner.map((type) => type.text).join(', ')}]`;
  const outer = annotationOf(object);
  return new TypeValue(text, (value) => {
    if (!outer.accepts(value)) return false;
    if (value instanceof List) return value.items.every((item) => inner[0]!.accepts(item));
    if (value instanceof Dict) {
      return [...value.entries.values()].every(
        ([key, item]) => inner[0]!.accepts(key) && (inner[1] ?? inner[0]!).accepts(item),
      );
    }
    const items = iterate(value);
    return items.length === inner.length && items.every((item, i) => inner[i]!.accepts(item));
  });
};

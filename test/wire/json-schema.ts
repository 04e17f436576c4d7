/** A checker for the part of JSON Schema draft-07 that the protocol's schema uses. Unknown keywords are an error. */
export type Schema = boolean | { readonly [keyword: string]: unknown };

/** What is wrong with `value`, each with its place; empty when it fits. `$ref`s point into `root`. */
export function violations(value: unknown, schema: Schema, root: Schema, at = '$'): readonly string[] {
  if (schema === true) return [];
  if (schema === false) return [`${at}: nothing is allowed here`];
  return Object.entries(schema).flatMap(([keyword, rule]) => {
    const check = CHECKS[keyword];
    if (!check) throw new Error(`the checker does not know the keyword ${keyword} (${at})`);
    return check(value, rule, { at, root, schema });
  });
}

interface Place {
  readonly at: string;
  readonly root: Schema;
  readonly schema: { readonly [keyword: string]: unknown };
}
type Check = (value: unknown, rule: unknown, place: Place) => readonly string[];
type Table = Readonly<Record<string, Schema>>;

const nothing: Check = () => [];

const CHECKS: Readonly<Record<string, Check>> = {
  default: nothing,
  $schema: nothing,
  format: nothing,
  $ref: (value, rule, { at, root }) => violations(value, follow(root, rule as string), root, at),
  type: (value, rule, { at }) => {
    const names = (Array.isArray(rule) ? rule : [rule]) as readonly string[];
    return names.some((name) => isOfType(value, name)) ? [] : [`${at}: ${show(value)} is not ${names.join(' or ')}`];
  },
  enum: (value, rule, { at }) =>
    (rule as readonly unknown[]).includes(value)
      ? []
      : [`${at}: ${show(value)} is none of ${(rule as string[]).join(', ')}`],
  minimum: (value, rule, { at }) =>
    typeof value !== 'number' || value >= (rule as number) ? [] : [`${at}: ${value} is below ${rule}`],
  minLength: (value, rule, { at }) =>
    typeof value !== 'string' || value.length >= (rule as number) ? [] : [`${at}: the text is too short`],
  required: (value, rule, { at }) =>
    isObject(value)
      ? (rule as readonly string[])
          .filter((name) => !Object.hasOwn(value, name))
          .map((name) => `${at}.${name}: missing`)
      : [],
  properties: (value, rule, { at, root }) =>
    isObject(value)
      ? Object.entries(rule as Table).flatMap(([name, inner]) =>
          Object.hasOwn(value, name) ? violations(value[name], inner, root, `${at}.${name}`) : [],
        )
      : [],
  additionalProperties: (value, rule, { at, root, schema }) => {
    const known = isObject(schema['properties']) ? schema['properties'] : {};
    if (!isObject(value)) return [];
    return Object.entries(value).flatMap(([name, inner]) =>
      Object.hasOwn(known, name) ? [] : violations(inner, rule as Schema, root, `${at}.${name}`),
    );
  },
  items: (value, rule, { at, root }) =>
    Array.isArray(value) ? value.flatMap((one, i) => violations(one, rule as Schema, root, `${at}[${i}]`)) : [],
  allOf: (value, rule, { at, root }) => (rule as readonly Schema[]).flatMap((one) => violations(value, one, root, at)),
  anyOf: (value, rule, place) => oneFits(value, rule as readonly Schema[], place),
  oneOf: (value, rule, place) => oneFits(value, rule as readonly Schema[], place),
};

/** The complaints of the nearest variant: one of the same `type` or `method`, else the one with the fewest. */
function oneFits(value: unknown, variants: readonly Schema[], { at, root }: Place): readonly string[] {
  const complaints = variants.map((variant) => violations(value, variant, root, at));
  if (complaints.some((list) => list.length === 0)) return [];
  const ofTag = complaints.filter((list) => !list.some((line) => /^[^:]*\.(type|method|handlerType): /.test(line)));
  return [...(ofTag.length > 0 ? ofTag : complaints)].sort((a, b) => a.length - b.length)[0] ?? [];
}

function follow(root: Schema, ref: string): Schema {
  let here: unknown = root;
  for (const step of ref.replace(/^#\//, '').split('/')) here = isObject(here) ? here[step] : undefined;
  if (here === undefined) throw new Error(`the schema has no ${ref}`);
  return here as Schema;
}

function isOfType(value: unknown, name: string): boolean {
  switch (name) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'integer':
      return Number.isSafeInteger(value);
    default:
      return typeof value === name;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function show(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 80) ?? 'undefined';
}

/** Configuration layers and how they are laid over one another. Pure. */
import { isTable } from './shape.js';

export type Table = Readonly<Record<string, unknown>>;

export type LayerName = 'flags' | 'project' | 'profile' | 'user' | 'system';

export interface ConfigLayer {
  readonly name: LayerName;
  /** The file it comes from; absent for flags. */
  readonly path?: string;
  readonly table: Table;
  /** Why it takes no part, when it does not. */
  readonly disabledReason?: string;
}

export interface MergedConfig {
  readonly table: Table;
  /** Dotted key of every effective value that is not a table → its layer. */
  readonly origins: ReadonlyMap<string, ConfigLayer>;
}

/** Lays `layers` (highest first) over one another: tables merge key by key, everything else replaces. */
export function mergeLayers(layers: readonly ConfigLayer[]): MergedConfig {
  const table: Record<string, unknown> = {};
  const origins = new Map<string, ConfigLayer>();
  for (const layer of layers.toReversed()) {
    if (layer.disabledReason === undefined)
      mergeInto(table, layer.table, [], (path, gone) => note(origins, path, layer, gone));
  }
  return { table, origins };
}

/** The layer that a key or, for a table, its first value comes from. */
export function originOf(merged: MergedConfig, path: readonly string[]): ConfigLayer | undefined {
  const key = dottedKey(path);
  const exact = merged.origins.get(key);
  if (exact) return exact;
  for (const [name, layer] of merged.origins) if (name.startsWith(`${key}.`)) return layer;
  return undefined;
}

/** `a.b."c.d"`: parts that are not bare TOML keys are quoted. */
export function dottedKey(path: readonly string[]): string {
  return path.map((part) => (/^[A-Za-z0-9_-]+$/.test(part) ? part : JSON.stringify(part))).join('.');
}

export function mergeTables(low: Table, high: Table): Table {
  const result: Record<string, unknown> = {};
  mergeInto(result, low, [], () => {});
  mergeInto(result, high, [], () => {});
  return result;
}

function mergeInto(
  target: Record<string, unknown>,
  source: Table,
  path: readonly string[],
  noteLeaf: (path: readonly string[], replacesTable?: boolean) => void,
): void {
  for (const [key, value] of Object.entries(source)) {
    const inner = [...path, key];
    if (!isTable(value)) {
      noteLeaf(inner, isTable(target[key]));
      setOwn(target, key, value);
      continue;
    }
    const below = Object.hasOwn(target, key) ? target[key] : undefined;
    const merged: Record<string, unknown> = isTable(below) ? below : {};
    if (merged !== below) {
      setOwn(target, key, merged);
      noteLeaf(inner); // an empty table, or one that replaces a plain value
    }
    mergeInto(merged, value, inner, noteLeaf);
  }
}

/** A key called `__proto__` is a key like any other. */
function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}

function note(
  origins: Map<string, ConfigLayer>,
  path: readonly string[],
  layer: ConfigLayer,
  replacesTable = false,
): void {
  const key = dottedKey(path);
  if (replacesTable) for (const below of [...origins.keys()]) if (below.startsWith(`${key}.`)) origins.delete(below);
  origins.set(key, layer);
}

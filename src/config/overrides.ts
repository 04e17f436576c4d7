/** `-c key=value`: a dotted path and a TOML value, or plain text where it is not TOML. */
import { parse, TomlError } from 'smol-toml';
import { TurnwrightError } from '../protocol/index.js';
import { mergeTables, type Table } from './layers.js';
import { isTable } from './shape.js';

/** All overrides as one table; a later one wins. Throws `TW_CONFIG_PARSE` for one without `=` or with an empty key. */
export function parseOverrides(overrides: readonly string[]): Table {
  return overrides.reduce<Table>((table, override) => setPath(table, ...splitOverride(override)), {});
}

function splitOverride(override: string): [readonly string[], unknown] {
  const at = separatorAt(override);
  const path = at < 0 ? [] : keyParts(override.slice(0, at).trim());
  if (path.length === 0 || path.includes(''))
    throw new TurnwrightError('TW_CONFIG_PARSE', `-c ${override}: expected key=value, such as -c model="gpt-5.5"`, {
      facts: { override },
    });
  return [path, parseValue(override.slice(at + 1).trim())];
}

/** The first `=` outside quotes; -1 when there is none. */
function separatorAt(override: string): number {
  const key = /^(?:"(?:\\.|[^"\\])*"|'[^']*'|[^="'])*/.exec(override)![0];
  return override[key.length] === '=' ? key.length : -1;
}

function keyParts(key: string): readonly string[] {
  const parts = key.match(/"(?:\\.|[^"\\])*"|'[^']*'|[^."']+|(?<=^|\.)(?=\.|$)/g) ?? [];
  return parts.map((part) => {
    if (part.startsWith('"')) return JSON.parse(part) as string;
    return part.startsWith("'") ? part.slice(1, -1) : part.trim();
  });
}

/** Codex 0.171: what TOML cannot read is taken as text, without quotes around it. */
function parseValue(text: string): unknown {
  try {
    return parse(`value = ${text}`)['value'];
  } catch (error) {
    if (error instanceof TomlError) return text.replace(/^["']+|["']+$/g, '');
    throw error;
  }
}

/** Replaces what is at `path`, keeping its neighbours. */
function setPath(table: Table, path: readonly string[], value: unknown): Table {
  const [key, ...rest] = path as [string, ...string[]];
  const below = table[key];
  const next = rest.length === 0 ? value : setPath(isTable(below) ? below : {}, rest, value);
  return mergeTables(omit(table, key), { [key]: next });
}

function omit(table: Table, key: string): Table {
  return Object.fromEntries(Object.entries(table).filter(([name]) => name !== key));
}

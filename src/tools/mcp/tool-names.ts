/** Names of MCP tools for the model: `mcp__server__tool`, in characters and a length that every provider accepts. */
import { createHash } from 'node:crypto';

const MAX_NAME_LENGTH = 64;
const HASH_DIGITS = 8;

/**
 * Gives each tool a name once and keeps it: a server that comes up late, or changes its list, must not make an earlier
 * name mean another tool. Of tools that would share a name, the first keeps it; the others get a hash of their own names.
 */
export class ToolNames {
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();

  nameOf(server: string, tool: string): string {
    const identity = JSON.stringify([server, tool]);
    let name = this.#names.get(identity);
    if (name === undefined) {
      name = this.#choose(identity, `mcp__${sanitise(server)}__${sanitise(tool)}`);
      this.#names.set(identity, name);
      this.#taken.add(name);
    }
    return name;
  }

  #choose(identity: string, plain: string): string {
    if (plain.length <= MAX_NAME_LENGTH && !this.#taken.has(plain)) return plain;
    const hash = createHash('sha256').update(identity).digest('hex').slice(0, HASH_DIGITS);
    return `${plain.slice(0, MAX_NAME_LENGTH - HASH_DIGITS - 1)}_${hash}`;
  }
}

/** Names that need no change first, so that a look-alike cannot take one of them. */
export function inNamingOrder(tools: readonly string[]): string[] {
  return [...tools].sort((a, b) => Number(sanitise(a) !== a) - Number(sanitise(b) !== b) || (a < b ? -1 : 1));
}

function sanitise(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/gu, '_') || '_';
}

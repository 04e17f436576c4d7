/** Reads a function call's JSON arguments. The first problem is told to the model in words it can act on. */
import { ArgumentError } from '../orchestrator/index.js';
import type { ToolPayload } from '../protocol/index.js';

export function parseJsonArgs(payload: ToolPayload): Readonly<Record<string, unknown>> {
  const text = payload.kind === 'function' ? payload.arguments : payload.input;
  let value: unknown;
  try {
    value = JSON.parse(text.trim() === '' ? '{}' : text);
  } catch (error) {
    throw new ArgumentError(`failed to parse function arguments: ${error instanceof Error ? error.message : error}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ArgumentError('failed to parse function arguments: expected a JSON object');
  return value as Readonly<Record<string, unknown>>; // checked just above
}

export function requireString(args: Readonly<Record<string, unknown>>, field: string): string {
  const value = args[field];
  if (value === undefined) throw new ArgumentError(`failed to parse function arguments: missing field \`${field}\``);
  if (typeof value !== 'string')
    throw new ArgumentError(`failed to parse function arguments: \`${field}\` must be a string`);
  return value;
}

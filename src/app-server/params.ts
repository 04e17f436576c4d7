/** Reads the fields of a request. What has the wrong shape is answered with −32600 and the field's name; `null` is absent. */
import { INVALID_REQUEST, type Params, RpcFailure } from './rpc.js';

export function invalid(field: string, what: string): RpcFailure {
  return new RpcFailure(INVALID_REQUEST, `invalid field \`${field}\`: ${what}`, { field });
}

export function requiredText(params: Params, field: string): string {
  const value = optionalText(params, field);
  if (value === undefined) throw new RpcFailure(INVALID_REQUEST, `missing field \`${field}\``, { field });
  return value;
}

export function optionalText(params: Params, field: string): string | undefined {
  return read(params, field, 'a text', (value) => typeof value === 'string') as string | undefined;
}

export function optionalFlag(params: Params, field: string): boolean {
  return (read(params, field, 'true or false', (value) => typeof value === 'boolean') ?? false) as boolean;
}

/** A whole number from `min` on. */
export function optionalCount(params: Params, field: string, min = 0): number | undefined {
  const fits = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= min;
  return read(params, field, `a whole number from ${min} on`, fits) as number | undefined;
}

export function optionalWord<Word extends string>(
  params: Params,
  field: string,
  words: readonly Word[],
): Word | undefined {
  const fits = (value: unknown) => (words as readonly unknown[]).includes(value);
  return read(params, field, `one of ${words.join(', ')}`, fits) as Word | undefined;
}

export function optionalObject(params: Params, field: string): Params | undefined {
  return read(params, field, 'an object', isObject) as Params | undefined;
}

export function optionalList(params: Params, field: string): readonly unknown[] | undefined {
  return read(params, field, 'a list', Array.isArray) as readonly unknown[] | undefined;
}

export function isObject(value: unknown): value is Params {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function read(params: Params, field: string, what: string, fits: (value: unknown) => boolean): unknown {
  const value = params[field];
  if (value === undefined || value === null) return undefined;
  if (fits(value)) return value;
  throw invalid(field, `${JSON.stringify(value).slice(0, 100)} is not ${what}`);
}

import type { Parameter } from './ast.js';
import { Mistake } from './rule-error.js';
import { type CallArguments, Dict, Tuple, toText, type Value } from './values.js';

/** Puts the arguments of a call into the names of a function. */
export function bindParameters(
  name: string,
  params: readonly Parameter[],
  fallbacks: readonly (Value | undefined)[],
  args: CallArguments,
  names: Map<string, Value>,
): void {
  const plain = params.filter((parameter) => parameter.kind === 'plain');
  const rest = args.positional.slice(plain.length);
  for (const [i, parameter] of plain.entries()) {
    const value = args.positional[i];
    if (value !== undefined) names.set(parameter.name, value);
  }
  const extra = new Dict();
  for (const [key, value] of args.named) {
    if (names.has(key)) throw new Mistake('type_error', `argument \`${key}\` occurs more than once`);
    const known = params.some(({ kind, name: own }) => own === key && (kind === 'plain' || kind === 'keywordOnly'));
    if (known) names.set(key, value);
    else extra.set(key, value);
  }
  for (const [i, { kind, name: own }] of params.entries()) {
    if (kind === 'args') names.set(own, new Tuple(rest));
    else if (kind === 'kwargs') names.set(own, extra);
    else if (!names.has(own)) {
      const fallback = fallbacks[i];
      if (fallback === undefined)
        throw new Mistake('missing_argument', `missing parameter \`${own}\` for call to \`${name}\``);
      names.set(own, fallback);
    }
  }
  if (rest.length > 0 && !params.some(({ kind }) => kind === 'args')) {
    throw new Mistake('type_error', `wrong type of call: too many positional arguments for ${name}`);
  }
  if (extra.entries.size > 0 && !params.some(({ kind }) => kind === 'kwargs')) {
    const [[key]] = extra.entries.values() as unknown as [[Value, Value]];
    throw new Mistake('unknown_argument', `found \`${toText(key)}\` extra named parameter(s) for call to ${name}`);
  }
}

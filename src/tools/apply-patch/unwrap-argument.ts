/** What models put around a patch, and what to tell them when it cannot be taken off. */
import { type InterceptedPatch, interceptApplyPatch } from './intercept.js';

/** Wrappers inside wrappers that are still taken off. */
const MAX_LAYERS = 5;

/**
 * The patch inside a JSON text (`["apply_patch", "*** Begin Patch…"]`, `{"command": […]}`, `{"input": "…"}`, a quoted
 * string), a code fence or a shell script that only applies a patch. A bare patch, or text that is none of these, comes
 * back as it is.
 */
export function unwrapPatchArgument(argument: string): InterceptedPatch {
  let found: InterceptedPatch = { patch: argument };
  for (let layer = 0; layer < MAX_LAYERS; layer++) {
    const inner = unwrapOnce(found.patch);
    if (inner === undefined) break;
    found = { ...found, ...inner };
  }
  return found;
}

function unwrapOnce(text: string): InterceptedPatch | undefined {
  const trimmed = text.trim();
  if (trimmed.startsWith('*** Begin Patch')) return undefined;
  const fenced = /^(`{3,}|~{3,})[^\n]*\n([\s\S]*?)\n?\1$/.exec(trimmed);
  if (fenced) return { patch: fenced[2]! };
  if (/^["[{]/.test(trimmed)) {
    const inner = textInJson(trimmed);
    return inner === undefined ? undefined : { patch: inner };
  }
  return interceptApplyPatch(trimmed);
}

function textInJson(text: string): string | undefined {
  try {
    return textInValue(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function textInValue(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return textInArgv(value);
  if (typeof value !== 'object' || value === null) return undefined;
  const fields = value as Readonly<Record<string, unknown>>; // an object, checked just above
  for (const name of ['input', 'patch', 'command', 'cmd', 'arguments']) {
    if (fields[name] !== undefined) return textInValue(fields[name]);
  }
  return undefined;
}

/** `[apply_patch, PATCH]`, `[bash, -lc, SCRIPT]`, or a lone `[PATCH]`. */
function textInArgv(argv: readonly unknown[]): string | undefined {
  const [program, ...rest] = argv;
  if (argv.length === 1) return typeof program === 'string' ? program : undefined;
  const last = rest.at(-1);
  if (typeof program !== 'string' || typeof last !== 'string') return undefined;
  if (/^apply_?patch$/.test(program) && rest.length === 1) return last;
  return /(?:^|\/)(?:ba|z|da)?sh$/.test(program) && rest.length === 2 && /^-l?c$/.test(String(rest[0]))
    ? last
    : undefined;
}

/** One sentence about what looks wrong with an argument that is no patch. */
export function explainArgument(argument: string): string {
  const text = argument.trim();
  if (/^["[{]/.test(text)) return `The argument must be the bare patch text, not JSON${ENVELOPE}`;
  if (text.startsWith('```') || text.startsWith('~~~'))
    return `The argument must be the bare patch text, without a code fence${ENVELOPE}`;
  if (/^(?:diff --git|--- |Index: )/m.test(text) && !text.includes('*** Begin Patch')) {
    return `This looks like a unified diff; the argument must be in the patch format of this tool${ENVELOPE}`;
  }
  if (text.includes('*** Begin Patch'))
    return `The argument must be the bare patch text, with nothing before or after it${ENVELOPE}`;
  return `The argument must be the bare patch text${ENVELOPE}`;
}

const ENVELOPE = ": '*** Begin Patch' on the first line, '*** End Patch' on the last.";

/** For a model that sent the same wrong argument again. */
export const ESCALATED_HINT = `This is the same argument that failed before; sending it again cannot work. Begin anew from this example and change only the paths and lines:
*** Begin Patch
*** Update File: path/of/file.txt
@@
 a line that is in the file
-a line to remove
+a line to add
*** Add File: path/of/new.txt
+its first line
*** End Patch
Every line of an update begins with a space (keep), '-' (remove) or '+' (add); kept and removed lines must be exactly as in the file, so read it first.`;

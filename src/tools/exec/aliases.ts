/** Older names of `exec_command` that models were trained on, with their arguments mapped to ours. */
import type { ToolPayload } from '../../protocol/index.js';

interface ExecAlias {
  readonly name: string;
  readonly tool: 'exec_command';
  convert(payload: ToolPayload): ToolPayload;
}

type Fields = Readonly<Record<string, unknown>>;

export const execAliases: readonly ExecAlias[] = ['shell', 'container.exec', 'shell_command'].map((name) => ({
  name,
  tool: 'exec_command',
  convert: convertPayload,
}));

/** What cannot be read is passed on as it is: the tool itself says what is wrong with it. */
function convertPayload(payload: ToolPayload): ToolPayload {
  if (payload.kind !== 'function') return payload;
  let fields: unknown;
  try {
    fields = JSON.parse(payload.arguments);
  } catch {
    return payload;
  }
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return payload;
  return { kind: 'function', arguments: JSON.stringify(convertFields(fields as Fields)) }; // an object, as checked
}

function convertFields(fields: Fields): Fields {
  const { command, timeout_ms, with_escalated_permissions, ...same } = fields;
  const script = typeof command === 'string' ? { cmd: command } : scriptOfArgv(command);
  return {
    ...same,
    ...script,
    ...(timeout_ms === undefined || 'yield_time_ms' in same ? {} : { yield_time_ms: timeout_ms }),
    ...(with_escalated_permissions === true ? { sandbox_permissions: 'require_escalated' } : {}),
  };
}

/** `["bash", "-lc", SCRIPT]` is the script; any other argv becomes a script that quotes each word. */
function scriptOfArgv(argv: unknown): Fields {
  if (!Array.isArray(argv) || !argv.every((word) => typeof word === 'string')) return {};
  const [shell = '', flag = '', script, ...rest] = argv as readonly string[]; // all strings, as checked
  const isShell = /^(?:\/(?:usr\/)?(?:local\/)?bin\/)?(?:ba|z)?sh$/.test(shell) && (flag === '-lc' || flag === '-c');
  if (isShell && script !== undefined && rest.length === 0)
    return { cmd: script, shell, ...(flag === '-c' ? { login: false } : {}) };
  return { cmd: argv.map(quoteWord).join(' '), login: false };
}

function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

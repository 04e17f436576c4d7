/** The arguments of `exec_command` and `write_stdin`: read, checked, and brought into their ranges. */
import { resolve } from 'node:path';
import { ArgumentError } from '../../orchestrator/index.js';
import type { ToolPayload } from '../../protocol/index.js';
import { parseJsonArgs, requireString } from '../json-args.js';
import { chooseShell, type Shell } from './shell.js';

export interface ExecArgs {
  readonly script: string;
  readonly shell: Shell;
  /** Shell, flag, script. */
  readonly argv: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  readonly tty: boolean;
  /** How long to wait for the end before the command goes on as a session. */
  readonly yieldMs: number;
  readonly maxOutputTokens: number | undefined;
  readonly escalated: boolean;
  readonly justification: string | undefined;
  readonly prefixRule: readonly string[] | undefined;
}

export interface StdinArgs {
  readonly sessionId: number;
  /** Empty: only look. */
  readonly chars: string;
  readonly yieldMs: number;
  readonly maxOutputTokens: number | undefined;
}

/** What the host and the turn set around the arguments. */
export interface ExecDefaults {
  readonly cwd: string;
  readonly shell: Shell;
  readonly allowLoginShell: boolean;
}

/** Codex 0.171. */
const YIELD_MS = { least: 250, most: 30_000, otherwise: 10_000 };
const POLL_LEAST_MS = 5000;

type Fields = Readonly<Record<string, unknown>>;

export function parseExecArgs(payload: ToolPayload, defaults: ExecDefaults): ExecArgs {
  const fields = parseJsonArgs(payload);
  const script = requireString(fields, 'cmd');
  if (script.includes('\0')) throw invalid('`cmd` holds a NUL character, which no command line can carry');
  requirePermissionsWithReason(fields);
  const shell = chooseShell(optional(fields, 'shell', 'string'), defaults.shell);
  const login = chooseLogin(optional(fields, 'login', 'boolean'), defaults.allowLoginShell);
  return {
    script,
    shell,
    argv: [shell.path, login ? '-lc' : '-c', script],
    cwd: resolve(defaults.cwd, optional(fields, 'workdir', 'string') || '.'),
    tty: optional(fields, 'tty', 'boolean') ?? false,
    yieldMs: clamp(optional(fields, 'yield_time_ms', 'number') ?? YIELD_MS.otherwise, YIELD_MS.least, YIELD_MS.most),
    maxOutputTokens: optional(fields, 'max_output_tokens', 'number'),
    escalated: wantsEscalation(optional(fields, 'sandbox_permissions', 'string')),
    justification: optional(fields, 'justification', 'string'),
    prefixRule: optionalWords(fields, 'prefix_rule'),
  };
}

/** A reason for nothing: the model meant to ask for something and did not say what (Codex 0.171 refuses it, too). */
function requirePermissionsWithReason(fields: Fields): void {
  if (fields['justification'] === undefined || fields['sandbox_permissions'] !== undefined) return;
  throw invalid(
    '`justification` needs `sandbox_permissions`: set it to "require_escalated" to ask for a run outside the sandbox, or leave `justification` out',
  );
}

/** `longestPollMs` bounds an empty poll, which may wait longer than a write. */
export function parseStdinArgs(payload: ToolPayload, longestPollMs: number): StdinArgs {
  const fields = parseJsonArgs(payload);
  const sessionId = optional(fields, 'session_id', 'number');
  if (sessionId === undefined) throw invalid('missing field `session_id`');
  const chars = optional(fields, 'chars', 'string') ?? '';
  const wanted = optional(fields, 'yield_time_ms', 'number') ?? YIELD_MS.least;
  const yieldMs =
    chars === ''
      ? clamp(wanted, POLL_LEAST_MS, Math.max(POLL_LEAST_MS, longestPollMs))
      : clamp(wanted, YIELD_MS.least, YIELD_MS.most);
  return { sessionId, chars, yieldMs, maxOutputTokens: optional(fields, 'max_output_tokens', 'number') };
}

interface Primitives {
  string: string;
  boolean: boolean;
  number: number;
}

function optional<T extends keyof Primitives>(fields: Fields, name: string, type: T): Primitives[T] | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== type) throw invalid(`\`${name}\` must be a ${type}`);
  return value as Primitives[T]; // its type has just been compared
}

function optionalWords(fields: Fields, name: string): readonly string[] | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value) || !value.every((word) => typeof word === 'string'))
    throw invalid(`\`${name}\` must be an array of strings`);
  return value;
}

function chooseLogin(wanted: boolean | undefined, allowed: boolean): boolean {
  if (wanted === true && !allowed)
    throw new ArgumentError(
      'exec_command failed: login shells are disabled by configuration; omit `login` or set it to false',
    );
  return wanted ?? allowed;
}

function wantsEscalation(permissions: string | undefined): boolean {
  if (permissions === undefined || permissions === 'use_default') return false;
  if (permissions === 'require_escalated') return true;
  throw invalid(
    `unknown variant \`${permissions}\` of \`sandbox_permissions\`, expected \`use_default\` or \`require_escalated\``,
  );
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, Math.floor(value)));
}

function invalid(what: string): ArgumentError {
  return new ArgumentError(`failed to parse function arguments: ${what}`);
}

/** Commands that models called for in the threads of a home, refused ones included: what `simulate` judges without a file. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { TurnwrightError } from '../../protocol/index.js';
import type { ExecpolicyIo } from './io.js';
import { commandArgv } from './session.js';

export interface PastCommand {
  readonly argv: readonly string[];
  readonly cwd: string | undefined;
}

/** @throws TurnwrightError when there is no thread. Lines that cannot be read are passed over: a log may be torn. */
export function readPastCommands(io: ExecpolicyIo): readonly PastCommand[] {
  const folder = path.join(io.home, 'sessions');
  const files = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
  const logs = files.filter((name) => name.endsWith('.jsonl')).sort();
  if (logs.length === 0)
    throw new TurnwrightError('TW_INPUT_FILE', `${folder} holds no thread; name a file of commands instead`);
  return logs.flatMap((name) => readThread(path.join(folder, name)));
}

function readThread(file: string): readonly PastCommand[] {
  let folder: string | undefined;
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const { type, payload } = parseLine(line);
      if (type === 'turn.started') folder = textOf(recordOf(payload['settings'])['cwd']) ?? folder;
      return type === 'item.completed' ? commandOf(recordOf(payload['item']), folder) : [];
    });
}

function commandOf(item: Readonly<Record<string, unknown>>, folder: string | undefined): readonly PastCommand[] {
  if (item['type'] !== 'toolCall' || item['tool'] !== 'exec_command') return [];
  const args = parseObject(textOf(recordOf(item['payload'])['arguments']) ?? '');
  const script = textOf(args['cmd']);
  const workdir = textOf(args['workdir']);
  if (script === undefined) return [];
  return [{ argv: commandArgv([script]), cwd: workdir === undefined ? folder : path.resolve(folder ?? '/', workdir) }];
}

function parseLine(line: string): { type: unknown; payload: Readonly<Record<string, unknown>> } {
  const record = parseObject(line);
  return { type: record['type'], payload: recordOf(record['payload']) };
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    return recordOf(JSON.parse(text));
  } catch {
    return {};
  }
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

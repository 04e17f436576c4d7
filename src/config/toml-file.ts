/** Reading TOML, with errors that say where and what to do. */
import { readFile } from 'node:fs/promises';
import { parse, TomlError } from 'smol-toml';
import { TurnwrightError } from '../protocol/index.js';
import type { Table } from './layers.js';

/** Undefined when there is no such file. Throws `TW_CONFIG_READ` or `TW_CONFIG_PARSE`. */
export async function readTomlFile(path: string): Promise<Table | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new TurnwrightError('TW_CONFIG_READ', `${path} cannot be read (${code}); check its permissions`, {
      facts: { path, code },
      cause,
    });
  }
  return parseTomlText(text, path);
}

function parseTomlText(text: string, path: string): Table {
  try {
    return parse(text);
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const { line, column } = cause;
    throw new TurnwrightError(
      'TW_CONFIG_PARSE',
      `${path}:${line}:${column}: not valid TOML: ${firstSentence(cause)}; fix this line, or move the file away to run with defaults`,
      { facts: { path, line, column }, cause },
    );
  }
}

/** The parser's message without its picture of the source. */
function firstSentence(error: TomlError): string {
  return (error.message.split('\n')[0] ?? '').replace(/^Invalid TOML document: /, '');
}

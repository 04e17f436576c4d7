/** Checks made before anything starts, so that a wrong name is an error of the call and not of the sandbox. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { SpawnOptions } from '../process/index.js';

/** @throws an `ENOENT` error when the working directory or the program does not exist, before any process starts. */
export function requireProgram(program: string, options: Pick<SpawnOptions, 'cwd' | 'env'>): void {
  if (statSync(options.cwd, { throwIfNoEntry: false })?.isDirectory() !== true) throw missing(options.cwd, 'chdir');
  const places = program.includes('/')
    ? [isAbsolute(program) ? program : join(options.cwd, program)]
    : (options.env['PATH'] ?? '/usr/bin:/bin').split(delimiter).map((place) => join(place, program));
  if (!places.some(isProgram)) throw missing(program, 'spawn');
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function missing(path: string, syscall: string): NodeJS.ErrnoException {
  const error: NodeJS.ErrnoException = new Error(`${syscall} ${path} ENOENT`);
  return Object.assign(error, { code: 'ENOENT', errno: -2, syscall, path });
}

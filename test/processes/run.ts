/** Runs a program to its end and collects what it printed. */
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import {
  OutputBuffer,
  type OutputSlice,
  type ProcessExit,
  type RunningProcess,
  type SpawnOptions,
  spawnProcess,
} from '../../src/process/index.js';

export interface Finished {
  readonly exit: ProcessExit;
  readonly output: OutputSlice;
}

export const ENV: Readonly<Record<string, string>> = {
  PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
  LC_ALL: 'C.UTF-8',
};

export function start(script: string, options: Partial<SpawnOptions> = {}): Promise<RunningProcess> {
  return spawnProcess(['/bin/sh', '-c', script], { cwd: tmpdir(), env: ENV, tty: false, ...options });
}

export async function run(script: string, options: Partial<SpawnOptions> = {}): Promise<Finished> {
  const running = await start(script, options);
  const buffer = new OutputBuffer();
  running.onOutput((bytes) => buffer.append(bytes));
  const exit = await running.exited;
  buffer.end();
  return { exit, output: buffer.takeNew() };
}

/** Resolves with everything printed so far once it contains `text`. */
export function printed(running: RunningProcess, text: string): Promise<string> {
  return new Promise((resolve) => {
    let all = '';
    running.onOutput((bytes) => {
      all += bytes.toString();
      if (all.includes(text)) resolve(all);
    });
  });
}

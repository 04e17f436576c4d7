/** Runs the built program as a child process, against a scripted model server over HTTP. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseScript, type ScriptServer, serveScript } from '../../src/model/index.js';

export const PROGRAM = path.resolve(import.meta.dirname, '../../bin/turnwright.js');

/** The tests run what users run; `npm test` builds first. */
export function requireBuild(): void {
  if (!existsSync(path.resolve(import.meta.dirname, '../../dist/cli.cjs')))
    throw new Error('dist/ is missing: run `npm run build` first');
}

export interface Place extends AsyncDisposable {
  readonly base: string;
  /** Working directory of the program. */
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A fresh working directory and homes, with nothing of the machine's own set-up. */
export async function createPlace(): Promise<Place> {
  const base = await realpath(await mkdtemp(path.join(os.tmpdir(), 'tw-exec-')));
  const at = (name: string) => path.join(base, name);
  for (const name of ['work', 'user']) await mkdir(at(name));
  return {
    base,
    cwd: at('work'),
    home: at('home'),
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: at('user'),
      SHELL: '/bin/bash',
      TURNWRIGHT_HOME: at('home'),
      MOCK_KEY: 'k',
    },
    [Symbol.asyncDispose]: () => rm(base, { recursive: true, force: true }),
  };
}

export interface Run {
  readonly status: number | NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly place: Place;
  /** Text for stdin, which is then closed; `open` leaves it open and silent. Default: closed at once. */
  readonly stdin?: string | { readonly kind: 'open' };
  readonly env?: Readonly<Record<string, string>>;
}

export interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Run>;
  /** Resolves once stdout holds `text`. */
  said(text: string): Promise<void>;
}

export function startProgram(args: readonly string[], { place, stdin = '', env = {} }: RunOptions): Started {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: place.cwd,
    env: { ...place.env, ...env },
    stdio: 'pipe',
  });
  let stdout = '';
  let stderr = '';
  const changed = new Set<() => void>();
  child.stdout.on('data', (bytes) => {
    stdout += bytes;
    for (const check of changed) check();
  });
  child.stderr.on('data', (bytes) => {
    stderr += bytes;
  });
  child.stdin.on('error', () => {}); // it may end without reading
  if (typeof stdin === 'string') child.stdin.end(stdin);
  const ended = once(child, 'close').then(([code, signal]): Run => ({ status: code ?? signal, stdout, stderr }));
  const said = (text: string) =>
    new Promise<void>((resolve) => {
      const check = () => {
        if (stdout.includes(text)) resolve();
      };
      changed.add(check);
      check();
    });
  return { child, ended, said };
}

export function runProgram(args: readonly string[], options: RunOptions): Promise<Run> {
  return startProgram(args, options).ended;
}

export function serve(...steps: readonly unknown[]): Promise<ScriptServer> {
  return serveScript(parseScript(steps));
}

/** `exec` with everything that points it at a scripted server. */
export function execArgs(server: { readonly url: string }, ...rest: readonly string[]): readonly string[] {
  const provider = `model_providers.mock={name="mock",base_url="${server.url}",wire_api="responses",env_key="MOCK_KEY",request_max_retries=0,stream_max_retries=0}`;
  return ['exec', '--skip-git-repo-check', '-c', 'model_provider="mock"', '-c', provider, '-m', 'gpt-5.5', ...rest];
}

export function lines(run: Run): Record<string, unknown>[] {
  return run.stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

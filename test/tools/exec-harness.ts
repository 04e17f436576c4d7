/** The command tools of a thread with everything real: shell, processes, time. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomIds, systemClock } from '../../src/lib/index.js';
import { type CallContext, RedirectedCall, type SandboxDenial, type Tool } from '../../src/orchestrator/index.js';
import { ProcessTable } from '../../src/process/index.js';
import type { Delta, ToolOutcome } from '../../src/protocol/index.js';
import { createPlainBackend, type SandboxBackend } from '../../src/sandbox/index.js';
import { testSettings } from '../../src/testing/index.js';
import { createExecTools, type ExecDeps } from '../../src/tools/exec/index.js';

export interface ExecHarness extends AsyncDisposable {
  readonly cwd: string;
  readonly processes: ProcessTable;
  readonly deltas: readonly Delta[];
  /** Parses and runs one call, as the orchestrator would after permission. */
  call(tool: 'exec_command' | 'write_stdin', args: object, signal?: AbortSignal): Promise<ToolOutcome | SandboxDenial>;
  /** The same for a command, when its outcome must not be a denial. */
  exec(args: object, signal?: AbortSignal): Promise<ToolOutcome>;
  stdin(args: object, signal?: AbortSignal): Promise<ToolOutcome>;
  parse(args: object): Promise<unknown>;
  /** Resolves when a delta fits. */
  delta(fits: (delta: Delta) => boolean): Promise<Delta>;
}

export interface HarnessOptions extends Partial<ExecDeps> {
  readonly backend?: SandboxBackend;
  readonly mode?: 'danger-full-access' | 'workspace-write' | 'read-only';
}

export function execHarness(options: HarnessOptions = {}): ExecHarness {
  const { backend = createPlainBackend(), mode = 'danger-full-access', ...change } = options;
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'exec-')));
  const processes = new ProcessTable();
  const tools = createExecTools({ ...DEFAULTS, processes, ...change });
  const settings = testSettings(cwd, { mode });
  const deltas: Delta[] = [];
  const watchers = new Set<(delta: Delta) => void>();
  const emit = (delta: Delta) => {
    deltas.push(delta);
    for (const watcher of watchers) watcher(delta);
  };
  const find = (name: string) => tools.find((tool) => tool.spec.name === name) as Tool;
  const context = (tool: string): CallContext => ({
    threadId: 'thread_1',
    turnId: 'turn_1',
    callId: 'c1',
    tool,
    payloadKind: 'function',
    settings,
    emit,
    record: async () => {},
  });
  const parse = (name: string, args: object) =>
    find(name).parse({ kind: 'function', arguments: JSON.stringify(args) }, context(name));
  const call: ExecHarness['call'] = async (name, args, signal = new AbortController().signal) => {
    const parsed = await parse(name, args);
    if (parsed instanceof RedirectedCall) throw new Error('the call was redirected');
    return find(name).run(parsed, { number: 1, sandbox: settings.sandbox, backend }, context(name), signal);
  };
  const outcome = async (name: 'exec_command' | 'write_stdin', args: object, signal?: AbortSignal) => {
    const result = await call(name, args, signal);
    if (result.kind === 'sandboxDenied') throw new Error('unexpected denial');
    return result;
  };
  return {
    cwd,
    processes,
    deltas,
    call,
    exec: (args, signal) => outcome('exec_command', args, signal),
    stdin: (args, signal) => outcome('write_stdin', args, signal),
    parse: async (args) => parse('exec_command', args),
    delta: (fits) =>
      new Promise((resolve) => {
        const found = deltas.find(fits);
        if (found) resolve(found);
        else watchers.add((delta) => fits(delta) && resolve(delta));
      }),
    async [Symbol.asyncDispose]() {
      await processes[Symbol.asyncDispose]();
      rmSync(cwd, { recursive: true, force: true });
    },
  };
}

const DEFAULTS: Omit<ExecDeps, 'processes'> = {
  shell: { path: '/bin/bash', name: 'bash' },
  envPolicy: { inherit: 'all', ignoreDefaultExcludes: false, exclude: [], includeOnly: [], set: {} },
  providerKeyNames: [],
  allowLoginShell: false,
  baseEnv: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', HOME: tmpdir() },
  clock: systemClock,
  ids: randomIds,
};

/** The recorded placeholders in place of what differs from run to run. */
export function normal(text: string): string {
  return text
    .replace(/Chunk ID: [0-9a-f]{6}\b/, 'Chunk ID: <CHUNK>')
    .replace(/Wall time: [\d.]+ seconds/, 'Wall time: <T> seconds')
    .replace(/session ID \d+/, 'session ID <SESSION_ID>');
}

/** The short way in for programs: options with defaults, and threads straight from the session. */
import { realpath } from 'node:fs/promises';
import { listThreads, type ThreadSummary } from '../store/index.js';
import type { Thread } from '../thread/index.js';
import { openSession, type Session } from './compose.js';
import type { ResumeOptions, StartOptions } from './port.js';
import { loadSessionConfig, type SessionRequest } from './session-config.js';

/**
 * Everything `SessionRequest` has, with defaults: this process's folder and environment, nobody to ask, a read-only sandbox,
 * notices on stderr.
 */
export type SessionOptions = Partial<SessionRequest>;

export interface ProgramSession extends Session {
  /** A new thread. `settings` change what configuration says. */
  start(options?: Partial<StartOptions>): Promise<Thread>;
  /** A thread of before. It follows the configuration of now. */
  resume(threadId: string, options?: ResumeOptions): Promise<Thread>;
  /** Saved threads of this folder, newest first. */
  threads(limit?: number): Promise<readonly ThreadSummary[]>;
  /** Ends every thread and command. The same as `await using` does, which plain Node 20 does not know. */
  close(): Promise<void>;
}

/** Reads the same configuration as the command line. Throws `TW_CONFIG_…`, `TW_NO_PROVIDER`, `TW_PROVIDER_CONFIG` or `TW_SCRIPT`. */
export async function createSession(options: SessionOptions = {}): Promise<ProgramSession> {
  const request: SessionRequest = {
    env: process.env,
    interactive: false,
    defaultSandbox: 'read-only',
    notice: (text) => void process.stderr.write(`${text}\n`),
    ...options,
    cwd: await realpath(options.cwd ?? process.cwd()),
  };
  const session = await openSession(await loadSessionConfig(request), request);
  const { engine, home } = session;
  const close = async () => await session[Symbol.asyncDispose]();
  return {
    ...session,
    start: ({ settings, source = 'library', ...rest } = {}) =>
      engine.start({ ...rest, source, settings: { ...session.settings, ...settings } }),
    resume: (threadId, { settings, ...rest } = {}) =>
      engine.resume(threadId, { ...rest, settings: { ...session.settings, ...settings } }),
    threads: (limit = 20) => (request.ephemeral ? Promise.resolve([]) : listThreads({ home, limit, cwd: request.cwd })),
    close,
    [Symbol.asyncDispose]: close,
  };
}

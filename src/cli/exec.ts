/** `exec`: one task, then the end. Nobody is there to answer, so what would ask is refused and says why. */
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { access, readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import {
  findThread,
  listThreads,
  loadSessionConfig,
  openSession,
  type Session,
  type SessionConfig,
  type SessionRequest,
  type Thread,
} from '../engine/index.js';
import { type ThreadEvent, type ThreadRecord, TurnwrightError, type UserInput } from '../protocol/index.js';
import { createExecJsonMapper } from './exec-json.js';
import { createHumanOutput } from './human-output.js';
import { readPrompt } from './read-prompt.js';
import { type SignalWatch, watchSignals } from './signals.js';

export interface ExecRequest {
  readonly prompt?: string;
  readonly resume?:
    | { readonly kind: 'last'; readonly anyFolder: boolean }
    | { readonly kind: 'named'; readonly thread: string };
  readonly json: boolean;
  readonly overrides: readonly string[];
  readonly flags: Readonly<Record<string, unknown>>;
  readonly profile?: string;
  readonly strictConfig: boolean;
  readonly cd?: string;
  readonly addDirs: readonly string[];
  readonly images: readonly string[];
  readonly skipRepositoryCheck: boolean;
  readonly trustProject: boolean;
  readonly ephemeral: boolean;
  readonly ignoreUserConfig: boolean;
  readonly ignoreRules: boolean;
  readonly outputSchemaFile?: string;
  readonly lastMessageFile?: string;
  readonly color: 'auto' | 'always' | 'never';
  /** Use a local model server: the named one, else the first that answers. */
  readonly local?: { readonly provider?: string };
  readonly bypassHookTrust: boolean;
  readonly source?: string;
}

/** How long a silent pipe on stdin is waited for when the prompt is an argument. */
const STDIN_PATIENCE_MS = 2000;

type TurnEnd = Extract<ThreadRecord, { type: 'turn.ended' }>;

/** Resolves with the exit status. Throws what kept the turn from starting. */
export async function runExec(request: ExecRequest): Promise<number> {
  const signals = watchSignals();
  try {
    return await execute(request, signals);
  } finally {
    signals.stop();
  }
}

async function execute(request: ExecRequest, signals: SignalWatch): Promise<number> {
  if (request.resume && request.ephemeral)
    throw new TurnwrightError('TW_USAGE', 'exec resume: a saved thread cannot go on with --ephemeral');
  const cwd = await workingFolder(request.cd);
  const session = sessionRequest(request, cwd);
  const config = await loadSessionConfig(session);
  if (!request.skipRepositoryCheck) checkRepository(config);
  const outputSchema = request.outputSchemaFile === undefined ? undefined : await readSchema(request.outputSchemaFile);
  if (request.lastMessageFile !== undefined) checkWritable(request.lastMessageFile);
  const images = await Promise.all(request.images.map(findImage));
  const text = await readPrompt({
    argument: request.prompt,
    stdin: process.stdin,
    notice,
    patienceMs: STDIN_PATIENCE_MS,
  });
  await using opened = await openSession(config, session);
  const thread = await openThread(opened, request, cwd, outputSchema);
  return await runTurn(thread, [...images, { type: 'text', text }], opened, request, signals);
}

function notice(text: string): void {
  process.stderr.write(`${text}\n`);
}

function sessionRequest(request: ExecRequest, cwd: string): SessionRequest {
  return {
    cwd,
    env: process.env,
    overrides: request.overrides,
    flags: request.flags,
    ...(request.profile === undefined ? {} : { profile: request.profile }),
    strictConfig: request.strictConfig,
    ignoreUserConfig: request.ignoreUserConfig,
    ignoreRules: request.ignoreRules,
    trustProject: request.trustProject,
    bypassHookTrust: request.bypassHookTrust,
    ephemeral: request.ephemeral,
    addDirs: request.addDirs,
    ...(request.local === undefined ? {} : { local: request.local }),
    interactive: false,
    defaultSandbox: 'read-only',
    notice,
  };
}

/** The resolved working folder: `-C`, else where we were started. */
async function workingFolder(wanted: string | undefined): Promise<string> {
  try {
    const folder = await realpath(wanted ?? process.cwd());
    await access(path.join(folder, '.'));
    return folder;
  } catch (cause) {
    const where = wanted === undefined ? 'the working directory' : wanted;
    const code = (cause as NodeJS.ErrnoException).code;
    throw new TurnwrightError('TW_CWD', `${where} cannot be entered (${code}); choose another folder with -C`, {
      cause,
    });
  }
}

/** The words are those of Codex 0.171: scripts look for them. */
function checkRepository(config: SessionConfig): void {
  if (config.insideRepository || config.project.trust === 'trusted') return;
  throw new TurnwrightError(
    'TW_NOT_A_REPO',
    'Not inside a trusted directory and --skip-git-repo-check was not specified.',
  );
}

async function readSchema(file: string): Promise<unknown> {
  const fail = (why: string, cause: unknown) =>
    new TurnwrightError('TW_SCHEMA_FILE', `output schema ${file} ${why}`, { facts: { file }, cause });
  const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw fail(`cannot be read (${cause.code})`, cause);
  });
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch (cause) {
    throw fail(`is not valid JSON: ${(cause as Error).message}`, cause);
  }
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    throw fail('is not a JSON Schema: it must be an object', undefined);
  return schema;
}

async function findImage(file: string): Promise<UserInput> {
  const absolute = path.resolve(file);
  await access(absolute).catch((cause: NodeJS.ErrnoException) => {
    throw new TurnwrightError('TW_INPUT_FILE', `image ${file} cannot be read (${cause.code})`, {
      facts: { file },
      cause,
    });
  });
  return { type: 'localImage', path: absolute };
}

/** Better to know before the tokens are spent. */
function checkWritable(file: string): void {
  try {
    closeSync(openSync(file, 'a'));
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    throw new TurnwrightError('TW_OUTPUT_FILE', `${file} cannot be written (${code}); choose another file for -o`, {
      facts: { file },
      cause,
    });
  }
}

async function openThread(session: Session, request: ExecRequest, cwd: string, outputSchema: unknown): Promise<Thread> {
  const settings = { ...session.settings, ...(outputSchema === undefined ? {} : { outputSchema }) };
  if (!request.resume) return session.engine.start({ settings, source: request.source ?? 'exec' });
  const id =
    request.resume.kind === 'named'
      ? await findThread(session.home, request.resume.thread)
      : await newestThread(session.home, request.resume.anyFolder ? undefined : cwd);
  return session.engine.resume(id, { settings });
}

async function newestThread(home: string, cwd: string | undefined): Promise<string> {
  const [newest] = await listThreads({ home, limit: 1, ...(cwd === undefined ? {} : { cwd }) });
  if (newest) return newest.threadId;
  const where = cwd === undefined ? 'anywhere' : `that was started in ${cwd} (--all looks in every folder)`;
  throw new TurnwrightError('TW_THREAD_UNKNOWN', `there is no thread ${where}`);
}

async function runTurn(
  thread: Thread,
  input: readonly UserInput[],
  session: Session,
  request: ExecRequest,
  signals: SignalWatch,
): Promise<number> {
  let turnId: string | undefined;
  const interrupt = (reason: string) => {
    // The turn may have ended in the same moment; then there is nothing to interrupt.
    if (turnId !== undefined) thread.interrupt(turnId, reason).catch(() => {});
  };
  const stopped = () => interrupt('shutdown'); // the reader of our output has gone
  process.stdout.on('error', stopped);
  const output = openOutput(thread, session, request);
  try {
    const events = thread.events();
    const admission = await thread.submit(input);
    if (admission.kind !== 'started')
      throw new TurnwrightError('TW_THREAD_BUSY', `thread ${thread.id} has an active turn`);
    turnId = admission.turnId;
    signals.turnRuns(interrupt);
    let message: string | undefined;
    for await (const event of events) {
      output.show(event);
      if (event.kind !== 'record') continue;
      const { record } = event.stored;
      if (record.type === 'item.completed' && record.item.type === 'agentMessage') message = record.item.text;
      if (record.type === 'turn.ended' && record.turnId === turnId)
        return finish(record, message, thread.id, signals, request);
    }
    return 1;
  } catch (error) {
    output.failed(error);
    throw error;
  } finally {
    process.stdout.off('error', stopped);
  }
}

function openOutput(thread: Thread, session: Session, request: ExecRequest) {
  if (request.json) {
    const mapper = createExecJsonMapper({ threadId: thread.id, usage: thread.usage });
    const write = (lines: ReturnType<typeof mapper.next>) => {
      for (const line of lines) process.stdout.write(`${JSON.stringify(line)}\n`);
    };
    return {
      show: (event: ThreadEvent) => write(mapper.next(event)),
      failed: (error: unknown) => write(mapper.failed(error instanceof Error ? error.message : String(error))),
    };
  }
  const human = createHumanOutput({
    write: (text) => process.stderr.write(text),
    progress: process.stderr.isTTY === true,
    color:
      request.color === 'always' ||
      (request.color === 'auto' && process.stderr.isTTY === true && !process.env['NO_COLOR']),
  });
  human.begin(thread.id, session.settings);
  return { show: (event: ThreadEvent) => human.show(event), failed: () => {} }; // whoever called prints it
}

function finish(
  end: TurnEnd,
  message: string | undefined,
  threadId: string,
  signals: SignalWatch,
  request: ExecRequest,
): number {
  const done = end.status === 'completed';
  if (request.lastMessageFile !== undefined) writeLastMessage(request.lastMessageFile, done ? (message ?? '') : '');
  // On one and the same terminal it stands there already, as the last thing that was shown.
  const shown = process.stdout.isTTY && process.stderr.isTTY;
  if (!request.json && done && message !== undefined && !shown) process.stdout.write(`${message}\n`);
  if (end.status === 'interrupted' && !request.ephemeral)
    notice(`interrupted; to go on: turnwright exec resume ${threadId} "…"`);
  if (signals.status !== undefined) return signals.status;
  if (done) return 0;
  if (end.status === 'interrupted') return 130;
  return end.error?.kind === 'budget' ? 4 : 1;
}

function writeLastMessage(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    notice(`error: ${file} cannot be written (${(error as NodeJS.ErrnoException).code}) [TW_OUTPUT_FILE]`);
  }
}

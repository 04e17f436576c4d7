/** Starts a command for a call and registers it, so that it cannot be forgotten. */
import { getSystemErrorMap } from 'node:util';
import type { Attempt, CallContext } from '../../orchestrator/index.js';
import { callOverlay, MARK_VARIABLE } from '../../process/index.js';
import type { SandboxPolicy } from '../../protocol/index.js';
import type { ExecArgs } from './exec-args.js';
import { LiveOutput } from './live-output.js';
import type { ExecServices } from './options.js';
import { CommandSession } from './session.js';
import { SpillFile } from './spill-file.js';

export interface StartedCommand {
  readonly session: CommandSession;
  readonly sessionId: number;
}

/** Rejects as the backend does: with an `ErrnoException` when the program or directory is missing. */
export async function startCommand(
  args: ExecArgs,
  attempt: Attempt,
  context: CallContext,
  services: ExecServices,
  signal: AbortSignal,
): Promise<StartedCommand> {
  const { clock, processes, spillDir } = services.deps;
  const { cwd, tty } = args;
  const env = commandEnv(attempt.sandbox, context, services);
  const options = { cwd, env, tty, policy: attempt.sandbox };
  const process = await attempt.backend.spawn(args.argv, options, signal);
  const show = (text: string) => context.emit({ type: 'command.output', callId: context.callId, text });
  const session = new CommandSession(
    process,
    { cwd, sandbox: attempt.sandbox, tty },
    {
      masker: services.masker.stream(),
      live: new LiveOutput(show, clock),
      ...(spillDir === undefined ? {} : { spill: new SpillFile(spillDir, spillName(context, services)) }),
    },
  );
  return { session, sessionId: processes.add(session) };
}

function commandEnv(sandbox: SandboxPolicy, context: CallContext, services: ExecServices): Record<string, string> {
  const { deps } = services;
  const confined = sandbox.mode !== 'danger-full-access' && sandbox.mode !== 'external';
  const overlay = callOverlay({
    threadId: context.threadId,
    callId: context.callId,
    version: deps.version ?? 'unknown',
    networkOff: confined && sandbox.network.kind === 'off',
  });
  return { ...services.childEnv, ...overlay, [MARK_VARIABLE]: deps.processes.nextMark() };
}

/** Call ids repeat between turns; the chunk id keeps files apart. */
function spillName(context: CallContext, services: ExecServices): string {
  return `${context.threadId}-${context.callId}-${services.deps.ids.chunk()}.log`;
}

/** The sentence about a command that could not be started; undefined when the error says something else. */
export function describeStartFailure(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('errno' in error) || typeof error.errno !== 'number') return undefined;
  const { errno } = error;
  const known = getSystemErrorMap().get(errno)?.[1] ?? error.message;
  const sentence = known.charAt(0).toUpperCase() + known.slice(1);
  return `Failed to create unified exec process: ${sentence} (os error ${-errno})`;
}

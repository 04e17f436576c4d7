/** `write_stdin`: types into a running session, or only looks at what it printed since. */
import type { CallContext, Tool } from '../../orchestrator/index.js';
import type { ToolOutcome } from '../../protocol/index.js';
import { parseStdinArgs, type StdinArgs } from './exec-args.js';
import type { ExecServices } from './options.js';
import { abortedOutcome, endedSessionOutcome, runningOutcome } from './outcomes.js';
import { CommandSession } from './session.js';
import { writeStdinSpec } from './specs.js';

const CTRL_C = '\u0003';
/** A program needs a moment to react to what was typed. */
const REACTION_MS = 100;

export function createWriteStdinTool(services: ExecServices): Tool<StdinArgs> {
  return {
    spec: writeStdinSpec,
    accepts: ['function'],
    gateGroup: null,
    escalation: { escalateOnFailure: false },
    parse: (payload) => parseStdinArgs(payload, services.longestPollMs),
    view: (args) => ({ type: 'stdin', sessionId: args.sessionId, chars: args.chars }),
    run: (args, _attempt, _context: CallContext, signal) => writeStdin(args, services, signal),
  };
}

async function writeStdin(args: StdinArgs, services: ExecServices, signal: AbortSignal): Promise<ToolOutcome> {
  const { clock, processes } = services.deps;
  const startedAtMs = clock.nowMs();
  const { sessionId, maxOutputTokens } = args;
  const session = processes.get(sessionId);
  if (!(session instanceof CommandSession)) return failed(`Unknown process id ${sessionId}`);
  if (!session.hasExited && args.chars !== '') {
    if (!(await send(args.chars, session)))
      return failed('stdin is closed for this session; rerun exec_command with tty=true to keep stdin open');
    await session.wait(REACTION_MS, clock, signal);
  }
  const end = await session.wait(args.yieldMs, clock, signal);
  const look = { session, sessionId, wallMs: clock.nowMs() - startedAtMs, maxOutputTokens };
  if (end === 'running') return runningOutcome(look, services);
  // A session was handed over: it outlives the turn that is being stopped.
  if (end === 'aborted') return abortedOutcome(look, session.takeNew(), signal.reason, services);
  processes.remove(sessionId);
  return endedSessionOutcome(look, services);
}

/** False when the session cannot be typed into. Without a terminal a lone Ctrl-C still arrives, as an interrupt. */
async function send(chars: string, session: CommandSession): Promise<boolean> {
  if (session.canWrite) await session.write(chars);
  else if (chars === CTRL_C) session.kill('SIGINT');
  else return false;
  return true;
}

function failed(why: string): ToolOutcome {
  return { kind: 'failed', text: `write_stdin failed: ${why}` };
}

/** The tool port: what the orchestrator and the dispatcher know about a tool. */
import type { ToolSpec } from '../model/index.js';
import type {
  Delta,
  ModelFailure,
  Requirement,
  SandboxDenialFacts,
  SandboxPolicy,
  ThreadRecord,
  ToolOutcome,
  ToolPayload,
  ToolView,
  TurnSettings,
} from '../protocol/index.js';
import type { SandboxBackend } from '../sandbox/index.js';

/** Facts about the call that every tool may need. */
export interface CallContext {
  readonly threadId: string;
  readonly turnId: string;
  readonly callId: string;
  readonly tool: string;
  readonly payloadKind: ToolPayload['kind'];
  readonly settings: TurnSettings;
  /** Shows work in progress; never stored. */
  emit(delta: Delta): void;
  /** Writes a fact to the thread's log. */
  record(record: ThreadRecord): Promise<void>;
}

/** One run of a call under one sandbox. */
export interface Attempt {
  readonly number: 1 | 2;
  readonly sandbox: SandboxPolicy;
  readonly backend: SandboxBackend;
}

/** The first attempt ended because the sandbox refused something. `outcome` is what the model gets if nobody escalates. */
export interface SandboxDenial {
  readonly kind: 'sandboxDenied';
  readonly denial: SandboxDenialFacts;
  readonly outcome: ToolOutcome;
}

/** How a tool behaves when the sandbox refuses it. */
export interface EscalationTraits {
  readonly escalateOnFailure: boolean;
}

export interface Tool<Args = unknown> {
  readonly spec: ToolSpec;
  /** Payload kinds it understands. Another kind is told to the model, and the turn goes on. */
  readonly accepts: readonly ToolPayload['kind'][];
  /**
   * Which calls it may run beside: calls of the same group share the gate, `null` runs alone.
   * Commands are `shared`, patches are `patch` (and lock the paths they touch).
   */
  readonly gateGroup: string | null;
  /** For a call whose payload makes it another tool's: the group it then belongs to. Must not wait. */
  gateGroupOf?(payload: ToolPayload): string | null;
  readonly escalation: EscalationTraits;
  /** Reads the payload. Throws `ArgumentError` with a sentence for the model. */
  parse(payload: ToolPayload, context: CallContext): Args | RedirectedCall | Promise<Args | RedirectedCall>;
  /** What a client shows. Undefined: the call has no item of its own. */
  view(args: Args, context: CallContext): ToolView;
  /** What policy says. Absent: `skip` inside the sandbox. */
  requirement?(args: Args, context: CallContext): Requirement | Promise<Requirement>;
  /** The model asked to run outside the sandbox. */
  wantsEscalation?(args: Args): boolean;
  /** Keys for remembered approvals; all must be known for the cache to answer. */
  cacheKeys?(args: Args, context: CallContext): readonly string[];
  run(args: Args, attempt: Attempt, context: CallContext, signal: AbortSignal): Promise<ToolOutcome | SandboxDenial>;
}

/**
 * `parse` returns this instead of arguments when the call is really another tool's: a patch sent as a shell script runs
 * as a patch. `cwd` (absolute) replaces the turn's for that run.
 */
export class RedirectedCall {
  readonly tool: string;
  readonly payload: ToolPayload;
  /** Put in front of the other tool's text, so that the model sees the form its own call promises. */
  readonly outputPrefix: string;
  readonly cwd: string | undefined;

  constructor(to: { tool: string; payload: ToolPayload; outputPrefix: string; cwd?: string }) {
    this.tool = to.tool;
    this.payload = to.payload;
    this.outputPrefix = to.outputPrefix;
    this.cwd = to.cwd;
  }
}

/** The arguments cannot be used. The message goes to the model. */
export class ArgumentError extends Error {}

/** The frame broke: the call cannot get a truthful output. Fails the turn. */
export class FatalToolError extends Error {
  readonly failure: ModelFailure;
  constructor(message: string) {
    super(message);
    this.failure = { kind: 'internal', message };
  }
}

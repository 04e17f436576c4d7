/**
 * Items: the durable things of a turn. History is a list of items, each written once and never rewritten.
 * Item ids are part of the model request, so they must not change between requests.
 */

/** What a person (or program) gives as input. Image URLs are `https:` or `data:`; paths are absolute. */
export type UserInput =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly url: string }
  | { readonly type: 'localImage'; readonly path: string };

/** What a message of the engine itself is about. Clients hide these by default. */
export type ContextKind =
  | 'instructions'
  | 'permissions'
  | 'agentsMd'
  | 'environment'
  | 'turnAborted'
  | 'processDied'
  | 'hookContext'
  | 'clientContext'
  | 'hookPrompt'
  | 'retryNote'
  | 'continueNote'
  | 'summary';

/** How the model passed a call's arguments: a JSON text (`function`) or free text (`custom`). */
export type ToolPayload =
  | { readonly kind: 'function'; readonly arguments: string }
  | { readonly kind: 'custom'; readonly input: string };

export type ItemBody =
  | { readonly type: 'userMessage'; readonly content: readonly UserInput[] }
  | { readonly type: 'context'; readonly role: 'developer' | 'user'; readonly kind: ContextKind; readonly text: string }
  | {
      readonly type: 'agentMessage';
      readonly text: string;
      /** Set by models that tell their remarks from their answer. */
      readonly phase?: string;
      /** The stream was cut on purpose before the message ended; `text` holds what the user has seen. */
      readonly incomplete?: true;
    }
  | {
      readonly type: 'reasoning';
      readonly summary: readonly string[];
      /** Raw reasoning text, when the provider shows it. */
      readonly text?: string;
      /** Opaque state the provider wants back. */
      readonly encrypted?: string;
    }
  | {
      readonly type: 'toolCall';
      readonly callId: string;
      readonly tool: string;
      readonly namespace?: string;
      readonly payload: ToolPayload;
    }
  | {
      readonly type: 'toolOutput';
      /** Empty: it answers no call, but carries context that a client gave. */
      readonly callId: string;
      /** Payload kind of the call it answers; the wire form depends on it. */
      readonly payloadKind: ToolPayload['kind'];
      readonly outcome: ToolOutcome;
      /** What the model sees instead of `outcome.text` (a post-tool hook replaced it). */
      readonly modelText?: string;
    }
  /** A tool the provider ran by itself (web search). `raw` is the provider's own item, sent back unchanged. */
  | { readonly type: 'hostedCall'; readonly tool: string; readonly raw: Readonly<Record<string, unknown>> };

export type Item = ItemBody & { readonly id: string };
export type ItemOf<T extends ItemBody['type']> = Extract<ItemBody, { type: T }> & { readonly id: string };
export type ToolCallItem = ItemOf<'toolCall'>;
export type ToolOutputItem = ItemOf<'toolOutput'>;

/** Parts of an output that are not plain text. */
export type OutputContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly url: string; readonly detail?: string };

/** Who refused a call. */
export type Refuser = 'policy' | 'hook' | 'guardian' | 'user' | 'sandbox';

/**
 * What a call came to. All but `aborted` go on; `text` is what the model reads.
 * `content`, when present, replaces `text` for the model. `report` is for clients and never reaches the model.
 */
export type ToolOutcome =
  | {
      readonly kind: 'ok';
      readonly text: string;
      readonly content?: readonly OutputContent[];
      readonly report?: ToolReport;
    }
  | {
      readonly kind: 'failed';
      readonly text: string;
      readonly content?: readonly OutputContent[];
      readonly exitCode?: number;
      readonly timedOut?: true;
      readonly report?: ToolReport;
    }
  | {
      readonly kind: 'rejected';
      readonly by: Refuser;
      readonly text: string;
      readonly decision?: Decision;
      readonly report?: ToolReport;
    }
  | { readonly kind: 'aborted'; readonly text: string; readonly report?: ToolReport };

/** The client's side of an outcome: what a UI shows when the call ends. */
export type ToolReport =
  | {
      readonly type: 'command';
      /** Null while it still runs as a session, and for a process that never started. */
      readonly exitCode: number | null;
      /** Set when the process outlived its call. */
      readonly sessionId?: number;
      readonly durationMs: number;
      /** Output as the process wrote it (bounded), unless it is the end of the outcome's text: then `outputAt`. */
      readonly output?: string;
      /** Where in the outcome's text the output begins. Saves writing it twice. */
      readonly outputAt?: number;
      /** What the sandbox refused, when that is what made it fail. */
      readonly denial?: SandboxDenialFacts;
    }
  | { readonly type: 'fileChange'; readonly changes: readonly FileChange[]; readonly diff?: string }
  | { readonly type: 'plan'; readonly explanation?: string; readonly steps: readonly PlanStep[] }
  | { readonly type: 'mcp'; readonly result: unknown; readonly error: string | null };

/** What the sandbox stopped, as far as it could be told from outside. */
export interface SandboxDenialFacts {
  readonly certainty: 'certain' | 'likely';
  readonly what: 'fs-write' | 'fs-read' | 'net' | 'unix' | 'syscall';
  readonly path?: string;
  readonly host?: string;
  /** The line of output that says so. */
  readonly evidence?: string;
}

export interface PlanStep {
  readonly step: string;
  readonly status: 'pending' | 'in_progress' | 'completed';
}

export interface FileChange {
  /** Absolute path. */
  readonly path: string;
  readonly kind: 'add' | 'delete' | 'update';
  /** Absolute target of a move. */
  readonly movePath?: string;
  /** Unified diff of this file. */
  readonly diff?: string;
}

/** What a client shows for a call, known before it runs. */
export type ToolView =
  | {
      readonly type: 'command';
      readonly argv: readonly string[];
      readonly cwd: string;
      /** What it does in a person's words, where somebody looks. No decision reads it. */
      readonly actions?: readonly CommandAction[];
    }
  | { readonly type: 'stdin'; readonly sessionId: number; readonly chars: string }
  | { readonly type: 'fileChange'; readonly changes: readonly FileChange[] }
  | { readonly type: 'plan'; readonly steps: readonly PlanStep[] }
  | { readonly type: 'mcp'; readonly server: string; readonly tool: string; readonly arguments: unknown }
  | { readonly type: 'image'; readonly path: string }
  | { readonly type: 'other'; readonly tool: string };

/** One thing a command does. A command that is not proven to only read is shown whole, as `unknown`. */
export type CommandAction =
  /** `path` is absolute. */
  | { readonly type: 'read'; readonly command: string; readonly name: string; readonly path: string }
  /** `path` as written; null is the working directory. */
  | { readonly type: 'listFiles'; readonly command: string; readonly path: string | null }
  | { readonly type: 'search'; readonly command: string; readonly query: string | null; readonly path: string | null }
  | { readonly type: 'unknown'; readonly command: string };

/** Who decided about a call, and by what. */
export interface Decision {
  readonly by: 'policy' | 'hook' | 'guardian' | 'user' | 'cache' | 'default';
  /** `path:line` of the rule, or the name of the hook or built-in rule. */
  readonly rule?: string;
  readonly reason?: string;
}

/**
 * Context for a turn: everything at the first turn of a thread, later only what changed. The prefix of the request is
 * never edited, so a change is appended as a new message and the last one counts.
 */
import type { Item, ItemOf, TurnSettings } from '../protocol/index.js';
import { type AgentsMd, readAgentsMd } from './agents-md.js';
import { dateFacts, environmentText } from './environment.js';
import { BASE_INSTRUCTIONS } from './instructions.js';
import { permissionsText } from './permissions.js';

export type ContextMessage = Pick<ItemOf<'context'>, 'role' | 'kind' | 'text'>;

export interface ContextOptions {
  /** Replaces the base instructions. */
  readonly instructions?: string;
  /** Added after them, as the developer's word. */
  readonly developerInstructions?: string;
  readonly shell: string;
  readonly agentsMd: {
    readonly userFolders: readonly string[];
    readonly rootMarkers: readonly string[];
    readonly fallbackNames: readonly string[];
    readonly maxBytes: number;
  };
}

export interface PreparedContext {
  readonly messages: readonly ContextMessage[];
  readonly warnings: readonly string[];
}

export async function prepareContext(
  history: Iterable<Item>,
  settings: TurnSettings,
  options: ContextOptions,
  nowMs: number,
): Promise<PreparedContext> {
  const last = lastByKind(history);
  const agents = await agentsFor(settings, options);
  const wanted: ContextMessage[] = [
    { role: 'developer', kind: 'instructions', text: instructionsText(options) },
    { role: 'developer', kind: 'permissions', text: permissionsText(settings.sandbox, settings.approvalPolicy) },
    ...(agents.text ? [{ role: 'user', kind: 'agentsMd', text: agents.text } as const] : []),
    {
      role: 'user',
      kind: 'environment',
      text: environmentText(settings, { shell: options.shell, ...dateFacts(nowMs) }),
    },
  ];
  // Base instructions are fixed for a thread: a newer release must not break the prefix of an old conversation.
  const messages = wanted.filter((message) =>
    message.kind === 'instructions' ? !last.has('instructions') : last.get(message.kind) !== message.text,
  );
  return { messages, warnings: agents.warnings };
}

function agentsFor(settings: TurnSettings, options: ContextOptions): Promise<AgentsMd> {
  return readAgentsMd({ ...options.agentsMd, cwd: settings.cwd });
}

function instructionsText(options: ContextOptions): string {
  const base = options.instructions ?? BASE_INSTRUCTIONS;
  return options.developerInstructions ? `${base}\n\n${options.developerInstructions}` : base;
}

function lastByKind(history: Iterable<Item>): Map<string, string> {
  const last = new Map<string, string>();
  for (const item of history) if (item.type === 'context') last.set(item.kind, item.text);
  return last;
}

/** The model port: everything the engine knows about a model provider. Wire names stay behind it. */
import type { Item, ItemOf, ModelFailure, Usage } from '../protocol/index.js';

/** A tool as offered to the model. `parameters` is a JSON Schema object. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly kind:
    | { readonly type: 'function'; readonly parameters: Readonly<Record<string, unknown>> }
    /** Free text, constrained by a grammar where the provider can. `fallback` is its function form. */
    | {
        readonly type: 'custom';
        readonly grammar?: { readonly syntax: 'lark' | 'regex'; readonly definition: string };
        readonly fallback: Readonly<Record<string, unknown>>;
      }
    /** Run by the provider. `options` is passed through. */
    | { readonly type: 'hosted'; readonly options: Readonly<Record<string, unknown>> };
}

/** What a provider and model can do. The engine asks these flags, never the provider's name. */
export interface ModelCapabilities {
  readonly customTools: boolean;
  readonly hostedWebSearch: boolean;
  readonly parallelToolCalls: boolean;
  readonly reasoning: boolean;
  readonly images: boolean;
  readonly outputSchema: boolean;
  readonly verbosity: boolean;
  /** Tokens the model can read; undefined when unknown. */
  readonly contextWindow?: number;
  /** The model is in the catalogue; otherwise a warning is shown once. */
  readonly known: boolean;
}

export interface ModelRequest {
  readonly model: string;
  /** History in order, complete: every call is followed by its output. */
  readonly input: Iterable<Item>;
  readonly tools: readonly ToolSpec[];
  readonly reasoningEffort?: string;
  readonly reasoningSummary?: string;
  readonly verbosity?: string;
  readonly outputSchema?: unknown;
  /** Whether the provider must enforce the schema. Default true. */
  readonly outputSchemaStrict?: boolean;
  /** Thread id: lets the provider keep its prompt cache. */
  readonly cacheKey: string;
  readonly metadata: Readonly<Record<string, string>>;
}

export type ModelEvent =
  /** A message or reasoning or call has begun; `itemId` is the id its finished item will have. */
  | {
      readonly type: 'itemStarted';
      readonly itemId: string;
      readonly itemType: 'agentMessage' | 'reasoning' | 'toolCall';
      readonly tool?: string;
    }
  | { readonly type: 'text'; readonly itemId: string; readonly text: string }
  /** `raw`: the reasoning itself, not its summary. `part` numbers the pieces of either. */
  | {
      readonly type: 'reasoning';
      readonly itemId: string;
      readonly part: number;
      readonly text: string;
      readonly raw?: true;
    }
  | { readonly type: 'arguments'; readonly itemId: string; readonly text: string }
  | { readonly type: 'item'; readonly item: ModelItem }
  /** The response is complete. Anything after it is ignored. */
  | { readonly type: 'completed'; readonly endTurn?: boolean; readonly usage?: Usage; readonly responseId?: string }
  /** Cut by the provider's output limit (or another stated reason). */
  | { readonly type: 'incomplete'; readonly reason: string; readonly usage?: Usage }
  | { readonly type: 'failed'; readonly error: ModelFailure };

/** Items a model can produce. */
export type ModelItem = ItemOf<'agentMessage'> | ItemOf<'reasoning'> | ItemOf<'toolCall'> | ItemOf<'hostedCall'>;

/**
 * One model provider. `sample` sends one request and yields its events; it retries by itself only what
 * fails before a response body (request retries, silent). It yields `failed` for everything a peer or network
 * does wrong and throws only `signal.reason` on abort, or a bug. A stream that ends without `completed`,
 * `incomplete` or `failed` was cut; the caller treats it so.
 */
export interface ModelProvider {
  readonly id: string;
  /** Visible retries of a broken stream. Default 5. */
  readonly streamMaxRetries: number;
  capabilities(model: string): ModelCapabilities;
  /** Opens a connection early, so that the first request finds it ready. Never fails. */
  warmUp?(): void;
  sample(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

/** Tools that a client brings along (`dynamicTools`) and runs itself: the model calls them, the server asks the client. */
import { defineTool, type Tool, type ToolOutcome } from '../engine/index.js';
import { type Deferred, deferred } from '../lib/index.js';
import type { OutputContent } from '../protocol/index.js';
import { invalid, isObject, optionalList } from './params.js';
import type { Params, Reply } from './rpc.js';

/** How the protocol names a client's tool. */
export interface ClientToolName {
  readonly tool: string;
  readonly namespace: string | null;
}

export interface ClientTools {
  /** By the name the model uses: `namespace__tool`, or `tool`. */
  readonly names: ReadonlyMap<string, ClientToolName>;
  readonly tools: readonly Tool[];
  readonly calls: ClientCalls;
}

/** Calls that wait for the client's reply. The waiter is there before the question leaves. */
export class ClientCalls {
  readonly #waiting = new Map<string, Deferred<Reply>>();

  async reply(callId: string, signal: AbortSignal): Promise<Reply> {
    signal.throwIfAborted();
    const waiter = deferred<Reply>();
    const stop = () => waiter.reject(signal.reason);
    this.#waiting.set(callId, waiter);
    signal.addEventListener('abort', stop, { once: true });
    try {
      return await waiter.promise;
    } finally {
      signal.removeEventListener('abort', stop);
      this.#waiting.delete(callId);
    }
  }

  settle(callId: string, reply: Reply): void {
    this.#waiting.get(callId)?.resolve(reply);
  }
}

/** A client's tool must not stand in for one of these: rules and the sandbox would no longer see the call. */
const BUILT_IN = new Set(
  'exec_command write_stdin apply_patch update_plan view_image request_user_input shell shell_command local_shell bash'.split(
    ' ',
  ),
);

/** Throws −32600 for a tool that cannot be offered. */
export function readClientTools(params: Params): ClientTools {
  const names = new Map<string, ClientToolName>();
  const tools: Tool[] = [];
  const calls = new ClientCalls();
  const add = (spec: unknown, at: string, namespace: string | null) => {
    const { name, description, inputSchema } = isObject(spec) ? spec : {};
    if (typeof name !== 'string' || typeof description !== 'string' || !isObject(inputSchema))
      throw invalid(at, 'a tool needs `name`, `description` and `inputSchema`');
    const flat = namespace === null ? name : `${namespace}__${name}`;
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(flat))
      throw invalid(`${at}.name`, `${JSON.stringify(flat)} is no tool name (letters, digits, _ and -, at most 64)`);
    if (BUILT_IN.has(flat)) throw invalid(`${at}.name`, `${flat} is a tool of the engine`);
    if (names.has(flat)) throw invalid(`${at}.name`, `${flat} is there twice`);
    names.set(flat, { tool: name, namespace });
    tools.push(clientTool({ name: flat, description, parameters: inputSchema }, calls));
  };
  for (const [i, spec] of (optionalList(params, 'dynamicTools') ?? []).entries()) {
    const at = `dynamicTools[${i}]`;
    if (!isObject(spec) || spec['type'] !== 'namespace') add(spec, at, null);
    else if (typeof spec['name'] !== 'string') throw invalid(`${at}.name`, 'a namespace needs a name');
    else
      for (const [j, inner] of (optionalList(spec, 'tools') ?? []).entries())
        add(inner, `${at}.tools[${j}]`, spec['name']);
  }
  return { names, tools, calls };
}

function clientTool(spec: { name: string; description: string; parameters: Params }, calls: ClientCalls): Tool {
  const tool = defineTool({
    ...spec,
    parallel: true,
    run: async (_args, { callId }, signal) => clientOutcome(spec.name, await calls.reply(callId, signal)),
  });
  return tool as Tool;
}

/** What the client's reply tells the model. */
function clientOutcome(name: string, reply: Reply): ToolOutcome {
  if ('error' in reply) return { kind: 'failed', text: `the client could not run ${name}: ${reply.error.message}` };
  const { contentItems, success } = isObject(reply.result) ? reply.result : {};
  if (!Array.isArray(contentItems) || typeof success !== 'boolean')
    return { kind: 'failed', text: `the client gave no usable result of ${name}` };
  const content = contentItems.flatMap(readContent);
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
  const images = content.some((part) => part.type === 'image') ? { content } : {};
  return { kind: success ? 'ok' : 'failed', text, ...images };
}

function readContent(item: unknown): readonly OutputContent[] {
  const { type, text, imageUrl } = isObject(item) ? item : {};
  if (type === 'inputText' && typeof text === 'string') return [{ type: 'text', text }];
  if (type === 'inputImage' && typeof imageUrl === 'string') return [{ type: 'image', url: imageUrl }];
  return [{ type: 'text', text: `(a part of type ${JSON.stringify(type)} was left out)` }];
}

/** What servers offer to read: lists of resources and templates, and their contents. Reading needs no approval. */
import type { RequestOptions } from '@modelcontextprotocol/client';
import { ArgumentError, type CallContext, type Tool } from '../../orchestrator/index.js';
import type { ToolOutcome } from '../../protocol/index.js';
import { truncateOutput } from '../exec/index.js';
import { parseJsonArgs, requireString } from '../json-args.js';
import { mcpAborted, mcpFailure, mcpReport } from './result.js';
import type { McpClient } from './sdk.js';
import { McpCallError, type McpServer } from './server.js';

export interface ResourceToolOptions {
  /** Servers that have started, in configured order. */
  servers(): readonly McpServer[];
  readonly maxOutputTokens: number;
}

interface ListArgs {
  readonly server?: string;
  readonly cursor?: string;
}

interface ReadArgs {
  readonly server: string;
  readonly uri: string;
}

/** The same words for a client's view when no single server is meant. */
const ALL_SERVERS = 'turnwright';

export function createResourceTools(options: ResourceToolOptions): readonly Tool[] {
  const resources = createListTool('list_mcp_resources', 'resources', options, (client, cursor, request) =>
    client.listResources(cursor, request),
  );
  const templates = createListTool(
    'list_mcp_resource_templates',
    'resourceTemplates',
    options,
    (client, cursor, request) => client.listResourceTemplates(cursor, request),
  );
  return [resources, templates, createReadTool(options)] as readonly Tool[];
}

type ListPage = (
  client: McpClient,
  cursor: { cursor: string } | undefined,
  request: RequestOptions,
) => Promise<{ readonly nextCursor?: string | undefined; readonly [field: string]: unknown }>;

function createListTool(
  name: string,
  field: 'resources' | 'resourceTemplates',
  options: ResourceToolOptions,
  list: ListPage,
): Tool<ListArgs> {
  const what = field === 'resources' ? 'resources' : 'resource templates (addresses with parameters)';
  return {
    ...sharedTraits,
    spec: {
      name,
      description: `Lists the ${what} that MCP servers offer: files, schemas, documents. Prefer them to web search where they fit.`,
      kind: { type: 'function', parameters: LIST_PARAMETERS },
    },
    parse(payload) {
      const { server, cursor } = parseJsonArgs(payload);
      if (typeof cursor === 'string' && typeof server !== 'string')
        throw new ArgumentError(`${name}: \`cursor\` continues the list of one server; name it in \`server\``);
      return {
        ...(typeof server === 'string' ? { server } : {}),
        ...(typeof cursor === 'string' ? { cursor } : {}),
      };
    },
    view: (args) => ({ type: 'mcp', server: args.server ?? ALL_SERVERS, tool: name, arguments: args }),
    run: (args, _attempt, context, signal) =>
      answer(name, options, signal, async () => {
        const cursor = args.cursor === undefined ? undefined : { cursor: args.cursor };
        const pageOf = (server: McpServer) =>
          server.request(context, signal, async (client, request) =>
            client.getServerCapabilities()?.resources ? await list(client, cursor, request) : {},
          );
        if (args.server === undefined) return await listAll(options.servers(), field, pageOf);
        const page = await pageOf(findServer(args.server, options.servers()));
        const next = page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor };
        return { server: args.server, [field]: entriesOf(page, field, args.server), ...next };
      }),
  };
}

/** One server that cannot answer must not hide the others. */
async function listAll(
  servers: readonly McpServer[],
  field: string,
  pageOf: (server: McpServer) => Promise<Readonly<Record<string, unknown>>>,
): Promise<Readonly<Record<string, unknown>>> {
  const errors: Record<string, string> = {};
  const lists = await Promise.all(
    servers.map(async (server) => {
      const { name } = server.config;
      try {
        return entriesOf(await pageOf(server), field, name);
      } catch (error) {
        if (!(error instanceof McpCallError)) throw error;
        errors[name] = error.message;
        return [];
      }
    }),
  );
  return { [field]: lists.flat(), ...(Object.keys(errors).length > 0 ? { errors } : {}) };
}

function entriesOf(page: Readonly<Record<string, unknown>>, field: string, server: string): readonly object[] {
  const entries = page[field];
  return Array.isArray(entries) ? entries.map((entry: object) => ({ server, ...entry })) : [];
}

function createReadTool(options: ResourceToolOptions): Tool<ReadArgs> {
  const name = 'read_mcp_resource';
  return {
    ...sharedTraits,
    spec: {
      name,
      description: 'Reads one resource of an MCP server, by the server and address that list_mcp_resources gave.',
      kind: { type: 'function', parameters: READ_PARAMETERS },
    },
    parse(payload) {
      const args = parseJsonArgs(payload);
      return { server: requireString(args, 'server'), uri: requireString(args, 'uri') };
    },
    view: (args) => ({ type: 'mcp', server: args.server, tool: name, arguments: args }),
    run: (args, _attempt, context: CallContext, signal) =>
      answer(name, options, signal, async () => {
        const server = findServer(args.server, options.servers());
        const result = await server.request(context, signal, (client, request) =>
          client.readResource({ uri: args.uri }, { ...request, cacheMode: 'bypass' }),
        );
        return { server: args.server, uri: args.uri, contents: result.contents };
      }),
  };
}

const sharedTraits: Pick<Tool, 'accepts' | 'gateGroup' | 'escalation' | 'requirement'> = {
  accepts: ['function'],
  gateGroup: 'shared',
  escalation: { escalateOnFailure: false },
  requirement: () => ({ kind: 'skip', bypassSandbox: true }),
};

const text = (description: string) => ({ type: 'string', description });
const LIST_PARAMETERS = {
  type: 'object',
  properties: {
    server: text('Name of one server; absent: all of them.'),
    cursor: text('`nextCursor` of an earlier answer of the same server.'),
  },
  additionalProperties: false,
};
const READ_PARAMETERS = {
  type: 'object',
  properties: { server: text('Name of the server.'), uri: text('Address of the resource, exactly as listed.') },
  required: ['server', 'uri'],
  additionalProperties: false,
};

function findServer(name: string, servers: readonly McpServer[]): McpServer {
  const found = servers.find((server) => server.config.name === name);
  if (found) return found;
  const known = servers.map((server) => server.config.name).join(', ') || 'none';
  throw new ArgumentError(`no MCP server ${JSON.stringify(name)} is running; known: ${known}`);
}

async function answer(
  tool: string,
  options: ResourceToolOptions,
  signal: AbortSignal,
  work: () => Promise<unknown>,
): Promise<ToolOutcome> {
  const startedAtMs = performance.now();
  try {
    const whole = JSON.stringify(await work());
    const originalTokens = Math.ceil(Buffer.byteLength(whole) / 4);
    const shown = truncateOutput({ text: whole, originalTokens, maxOutputTokens: options.maxOutputTokens });
    return { kind: 'ok', text: shown, report: mcpReport([{ type: 'text', text: whole }], null) };
  } catch (error) {
    if (signal.aborted) return mcpAborted(performance.now() - startedAtMs, signal.reason);
    if (error instanceof McpCallError) return mcpFailure(tool, error);
    throw error;
  }
}

/** The MCP SDK, loaded when the first server is: it costs 0.3 s of processor time, which a thread without servers must not pay. */
import type { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

export type McpSdk = typeof import('@modelcontextprotocol/client');
export type McpClient = Client;
export type HttpTransport = StreamableHTTPClientTransport;

let loading: Promise<McpSdk> | undefined;

export function loadMcpSdk(): Promise<McpSdk> {
  loading ??= import('@modelcontextprotocol/client');
  return loading;
}

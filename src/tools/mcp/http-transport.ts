/** Streamable HTTP: headers from configuration and environment. The token is read anew for every connection. */
import type { Environment } from '../../process/index.js';
import type { HttpServer } from './read-servers.js';
import type { HttpTransport, McpSdk } from './sdk.js';

/**
 * A header whose variable is not set is left out, as in Codex.
 * @throws Error with a sentence for a person when the token's variable is not set.
 */
export function createHttpTransport(server: HttpServer, env: Environment, sdk: McpSdk): HttpTransport {
  const headers: Record<string, string> = { ...server.headers };
  for (const [header, variable] of Object.entries(server.envHeaders)) {
    const value = env[variable];
    if (value !== undefined && value !== '') headers[header] = value;
  }
  if (server.bearerTokenEnvVar !== undefined)
    headers['Authorization'] = `Bearer ${requireToken(server.bearerTokenEnvVar, env)}`;
  // A redirect to another origin would carry the token there; the SDK's default refuses it.
  return new sdk.StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers } });
}

function requireToken(variable: string, env: Environment): string {
  const token = env[variable];
  if (token === undefined || token === '')
    throw new Error(`the environment variable ${variable}, which bearer_token_env_var names, is not set`);
  return token;
}

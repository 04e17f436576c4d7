export type { McpConnections, McpConnectionsDeps } from './connections.js';
export { startMcpServers } from './connections.js';
export type { McpTools, McpToolsDeps } from './create-mcp-tools.js';
export { createMcpTools } from './create-mcp-tools.js';
export type { McpCallFacts } from './decide-requirement.js';
export { decideMcpRequirement } from './decide-requirement.js';
export type { AskElicitation, McpElicitation, McpElicitationAnswer } from './elicitation.js';
export type { HttpServer, McpApprovalMode, McpServerConfig, StdioServer } from './read-servers.js';
export { readMcpServers } from './read-servers.js';

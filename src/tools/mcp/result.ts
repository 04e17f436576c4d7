/** What a server answered → what the model reads and a client shows. The layout is Codex 0.171's. */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import { Interrupted, type OutputContent, type ToolOutcome, type ToolReport } from '../../protocol/index.js';
import { truncateOutput } from '../exec/index.js';
import type { McpCallError } from './server.js';

const BYTES_PER_TOKEN = 4;

/**
 * Structured content replaces the content list, as one text. `wallMs` is the call's time. Texts share a budget of
 * `maxOutputTokens`; the client's report holds everything.
 */
export function mcpOutcome(result: CallToolResult, wallMs: number, maxOutputTokens: number): ToolOutcome {
  const head = `Wall time: ${(wallMs / 1000).toFixed(4)} seconds\nOutput:`;
  const { content, structuredContent = null } = result;
  const report = mcpReport(content, structuredContent);
  const kind = result.isError === true ? 'failed' : 'ok';
  if (structuredContent !== null) {
    const [json = ''] = limitTexts([JSON.stringify(structuredContent)], maxOutputTokens);
    return { kind, text: `${head}\n${json}`, report };
  }
  const parts = limitParts(content.map(outputPart), maxOutputTokens);
  const texts = parts.map((part) => (part.type === 'text' ? part.text : '[image]'));
  return { kind, text: [head, ...texts].join('\n'), content: [{ type: 'text', text: head }, ...parts], report };
}

/** A call that got no answer. `tool` is the name the model used. */
export function mcpFailure(tool: string, error: McpCallError): ToolOutcome {
  const report: ToolReport = { type: 'mcp', result: null, error: error.message };
  return {
    kind: 'failed',
    text: `${tool} failed: ${error.message}`,
    ...(error.timedOut ? { timedOut: true } : {}),
    report,
  };
}

export function mcpAborted(wallMs: number, reason: unknown): ToolOutcome {
  const by = reason instanceof Interrupted && reason.why !== 'user' ? `aborted (${reason.why})` : 'aborted by user';
  const error = `${by}; the server was told to cancel, but what it did by then is unknown`;
  return {
    kind: 'aborted',
    text: `Wall time: ${(wallMs / 1000).toFixed(1)} seconds\n${error}`,
    report: { type: 'mcp', result: null, error },
  };
}

/** `result` has the protocol's own names: `content`, `structuredContent` (null when there is none). */
export function mcpReport(content: unknown, structuredContent: unknown): ToolReport {
  return { type: 'mcp', result: { content, structuredContent }, error: null };
}

function outputPart(block: ContentBlock): OutputContent {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'image': {
      const isUrl = block.data.startsWith('data:');
      return { type: 'image', url: isUrl ? block.data : `data:${block.mimeType};base64,${block.data}` };
    }
    default: // Audio, resources and links have no place in a model's input but as what they are.
      return { type: 'text', text: JSON.stringify(block) };
  }
}

function limitParts(parts: readonly OutputContent[], maxTokens: number): OutputContent[] {
  const texts = limitTexts(
    parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])),
    maxTokens,
  );
  return parts.map((part) => (part.type === 'text' ? { type: 'text', text: texts.shift() ?? '' } : part));
}

/** Each text is cut to what those before it left of the budget. */
function limitTexts(texts: readonly string[], maxTokens: number): string[] {
  let left = maxTokens;
  return texts.map((text) => {
    const originalTokens = Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
    const shown = truncateOutput({ text, originalTokens, maxOutputTokens: left });
    left = Math.max(0, left - originalTokens);
    return shown;
  });
}

/** The text a model reads about a command. The layout is Codex 0.171's, byte for byte. */
import { completeEnd, completeStart } from '../../process/index.js';

/** Tokens are estimated, not counted: four bytes each. */
const BYTES_PER_TOKEN = 4;
export const DEFAULT_MAX_OUTPUT_TOKENS = 10_000;

export interface ExecOutput {
  /** Six hex digits. */
  readonly chunkId: string;
  readonly wallMs: number;
  readonly state: { readonly exitCode: number } | { readonly sessionId: number };
  readonly text: string;
  /** Of the whole output, also of what was dropped while it was captured. */
  readonly originalTokens: number;
  readonly maxOutputTokens: number;
  /** Lines of the whole output; counted from `text` when absent. */
  readonly totalLines?: number;
  /** Sentences about the output, shown above it. */
  readonly notes?: readonly string[];
}

export function formatExecOutput(output: ExecOutput): string {
  const state =
    'exitCode' in output.state
      ? `Process exited with code ${output.state.exitCode}`
      : `Process running with session ID ${output.state.sessionId}`;
  return [
    `Chunk ID: ${output.chunkId}`,
    `Wall time: ${(output.wallMs / 1000).toFixed(4)} seconds`,
    state,
    `Original token count: ${output.originalTokens}`,
    ...(output.notes ?? []),
    'Output:',
    truncateOutput(output),
  ].join('\n');
}

/** The text itself when it fits the budget; else its head and tail, half of the budget each, and what is missing. */
export function truncateOutput(
  output: Pick<ExecOutput, 'text' | 'originalTokens' | 'maxOutputTokens' | 'totalLines'>,
): string {
  const { text, originalTokens } = output;
  const maxTokens = Math.max(0, Math.floor(output.maxOutputTokens));
  const budget = maxTokens * BYTES_PER_TOKEN;
  // A character has at most three UTF-8 bytes per UTF-16 unit, so short texts need no encoding.
  if (text.length * 3 <= budget) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= budget) return text;
  const half = Math.floor(budget / 2);
  const head = bytes.subarray(0, completeEnd(bytes.subarray(0, half)));
  const end = bytes.subarray(bytes.length - (budget - half));
  const tail = end.subarray(completeStart(end));
  const lines = output.totalLines ?? countLines(text);
  const header = `Warning: truncated output (original token count: ${originalTokens})\nTotal output lines: ${lines}\n\n`;
  return `${header}${head.toString()}…${originalTokens - maxTokens} tokens truncated…${tail.toString()}`;
}

export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

function countLines(text: string): number {
  const parts = text.split('\n');
  return parts.at(-1) === '' ? parts.length - 1 : parts.length;
}

/**
 * Where the prompt comes from. An argument is the prompt; `-` or nothing means standard input; with both, what stdin
 * delivers is added as a `<stdin>` block (Codex 0.171).
 *
 * With an argument, stdin is only an addition, and many hosts leave a pipe open that never says anything. So it gets a
 * short time for its first byte; once it speaks it is read to its end.
 */
import { fstatSync, type Stats } from 'node:fs';
import { TurnwrightError } from '../protocol/index.js';

export interface PromptSource {
  readonly argument: string | undefined;
  readonly stdin: NodeJS.ReadStream;
  /** Shows a notice to the person. */
  notice(text: string): void;
  /** How long a silent pipe is waited for, in milliseconds. */
  readonly patienceMs: number;
}

/** Throws `TW_NO_PROMPT`. */
export async function readPrompt(source: PromptSource): Promise<string> {
  const { argument } = source;
  if (argument !== undefined && argument !== '-') return withAddition(argument, await readAddition(source));
  if (argument === undefined) {
    if (source.stdin.isTTY)
      throw new TurnwrightError('TW_NO_PROMPT', 'no prompt: give it as an argument, or pipe it into stdin');
    source.notice('Reading prompt from stdin...');
  }
  const text = withoutMark(await readAll(source.stdin));
  if (text.trim() === '') throw new TurnwrightError('TW_NO_PROMPT', 'No prompt provided via stdin.');
  return text;
}

function withAddition(prompt: string, addition: string): string {
  if (addition.trim() === '') return prompt;
  return `${prompt}\n\n<stdin>\n${addition}${addition.endsWith('\n') ? '' : '\n'}</stdin>`;
}

async function readAddition(source: PromptSource): Promise<string> {
  const facts = factsOf(0);
  if (source.stdin.isTTY || !facts) return '';
  source.notice('Reading additional input from stdin...');
  if (facts.isCharacterDevice() && facts.rdev === LINUX_NULL_DEVICE) return ''; // known without reading
  if (!(await speaksWithin(source.stdin, source.patienceMs))) {
    source.stdin.destroy();
    source.notice(`Nothing came from stdin within ${source.patienceMs / 1000} s; going on without it.`);
    return '';
  }
  return withoutMark(await readAll(source.stdin));
}

/** Major 1, minor 3. */
const LINUX_NULL_DEVICE = 0x103;

/** Undefined when it is closed: a program may be started with its stdin closed. */
function factsOf(fd: number): Stats | undefined {
  try {
    return fstatSync(fd);
  } catch {
    return undefined;
  }
}

/** True once there is something to read, or the end. */
function speaksWithin(stdin: NodeJS.ReadStream, patienceMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => settle(false), patienceMs);
    const heard = () => settle(true);
    const settle = (spoke: boolean) => {
      clearTimeout(timer);
      for (const event of ['readable', 'end', 'error']) stdin.off(event, heard);
      resolve(spoke);
    };
    for (const event of ['readable', 'end', 'error']) stdin.on(event, heard);
  });
}

async function readAll(stdin: NodeJS.ReadStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

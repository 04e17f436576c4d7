/** Whole turns of the built program against a scripted model server, and what they leave behind. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createSession, type ProgramSession } from '../../src/engine/index.js';
import type { ScriptServer } from '../../src/model/index.js';
import { execArgs, type Place } from '../wire/exec-support.js';

export {
  createPlace,
  execArgs,
  lines,
  type Place,
  PROGRAM,
  type Run,
  requireBuild,
  runProgram,
  serve,
  startProgram,
} from '../wire/exec-support.js';

export const done = { done: true };
export const answer = (text: string) => ({ events: [{ text }, done] });
export const command = (cmd: string, id = 'c1', more: Record<string, unknown> = {}) => ({
  call: 'exec_command',
  args: { cmd, yield_time_ms: 30_000, ...more },
  id,
});
export const patch = (input: string, id = 'c1') => ({ custom: 'apply_patch', input, id });
export const step = (...events: readonly unknown[]) => ({ events: [...events, done] });

/** `exec` whose provider tries again: `more` is added to the provider's table. */
export function retryingArgs(server: { readonly url: string }, more: string, ...rest: readonly string[]) {
  const provider = `model_providers.mock={name="mock",base_url="${server.url}",env_key="MOCK_KEY",${more}}`;
  return execArgs(server, '-c', provider, ...rest);
}

/** A session of this process as a host would open it, with the scripted server as its model. */
export function hostSession(place: Place, server: { readonly url: string }, wire: 'responses' | 'chat' = 'responses') {
  const provider = `model_providers.mock={name="mock",base_url="${server.url}",wire_api="${wire}",env_key="MOCK_KEY"}`;
  return createSession({
    cwd: place.cwd,
    env: place.env,
    overrides: ['model_provider="mock"', provider, 'model="gpt-5.5"', 'sandbox_mode="danger-full-access"'],
    bypassHookTrust: true,
    notice: () => {},
  }) satisfies Promise<ProgramSession>;
}

type WireItem = Readonly<Record<string, unknown>> & { readonly type?: string; readonly role?: string };

/** The history of request `n`, from 0. */
export function input(server: ScriptServer, n: number): readonly WireItem[] {
  return (server.requests[n]?.body['input'] ?? []) as WireItem[];
}

/** Texts of the tool outputs in request `n`, in order. */
export function outputs(server: ScriptServer, n: number): readonly string[] {
  return input(server, n).flatMap((item) => (String(item.type).endsWith('_output') ? String(item['output']) : []));
}

/** `call c1`, `output c1`, `user`, … of request `n`, without the context in front of the first prompt. */
export function shape(server: ScriptServer, n: number): readonly string[] {
  return input(server, n).flatMap((item) => {
    if (String(item.type).endsWith('_output')) return `output ${item['call_id']}`;
    if (String(item.type).endsWith('_call')) return `call ${item['call_id']}`;
    return item.role === 'assistant' ? 'assistant' : [];
  });
}

export function threadFile(place: Place): string {
  const folder = path.join(place.home, 'sessions');
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'));
  if (found.length !== 1) throw new Error(`expected one thread, found ${found.length}`);
  return path.join(folder, found[0]!);
}

/** Live processes that were started with `HOME` in this place; commands inherit it. */
export function processesOf(place: Place): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const zombie = /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
      return !zombie && readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`HOME=${place.env['HOME']}\0`);
    } catch {
      return false;
    }
  });
}

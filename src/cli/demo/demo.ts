/**
 * `turnwright demo`: a scripted model repairs a sample project through the real engine, tools and sandbox. It needs no key
 * and no network, reads no configuration, and leaves only the folder it names.
 */
import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { loadSessionConfig, openSession, type SessionRequest, type Thread } from '../../engine/index.js';
import type { ThreadRecord } from '../../protocol/index.js';
import { createHumanOutput } from '../human-output.js';
import { DEMO_FILES } from './project.js';
import { demoScript } from './script.js';

export interface DemoIo {
  stdout(text: string): void;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly color: boolean;
}

/** Resolves with the exit status: 0 when the tests pass at the end and nothing outside was written. */
export async function runDemo(io: DemoIo): Promise<number> {
  const base = await mkdtemp(path.join(os.tmpdir(), 'turnwright-demo-'));
  const project = path.join(base, 'cart');
  const outside = path.join(base, 'copy-of-cart.js');
  await writeProject(project);
  await cp(project, path.join(base, 'before'), { recursive: true });
  const script = path.join(base, 'script.json');
  await writeFile(script, JSON.stringify(demoScript('../copy-of-cart.js')));
  io.stdout(introduction(project));
  const end = await playTurn(base, project, script, io);
  await rm(script);
  return report(io, base, project, outside, end);
}

async function writeProject(folder: string): Promise<void> {
  for (const [name, text] of Object.entries(DEMO_FILES)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), text);
  }
}

function introduction(project: string): string {
  return `This is a demonstration. The model's words are scripted; everything else is real: the commands, the patches, the
sandbox that stops what they may not do, and the test results. The project is in ${project}.

> The tests of this shopping cart fail. Find out why and fix it.

`;
}

async function playTurn(base: string, project: string, script: string, io: DemoIo): Promise<TurnEnd | undefined> {
  const request: SessionRequest = {
    cwd: project,
    env: { ...io.env, TURNWRIGHT_HOME: path.join(base, 'home'), CODEX_HOME: path.join(base, 'home') },
    overrides: [
      `model="scripted:${script}"`,
      'sandbox_mode="workspace-write"',
      // The project lies in a temporary folder: without these two, all of it would be writable.
      'sandbox_workspace_write.exclude_slash_tmp=true',
      'sandbox_workspace_write.exclude_tmpdir_env_var=true',
    ],
    flags: {},
    strictConfig: false,
    ignoreUserConfig: true,
    ignoreRules: true,
    trustProject: false,
    bypassHookTrust: false,
    ephemeral: true,
    interactive: false,
    defaultSandbox: 'workspace-write',
    notice: (text) => io.stdout(`${text}\n`),
  };
  await using session = await openSession(await loadSessionConfig(request), request);
  const thread = await session.engine.start({ settings: session.settings, source: 'demo' });
  return await showTurn(thread, io); // the session must outlive the turn
}

type TurnEnd = Extract<ThreadRecord, { type: 'turn.ended' }>;

async function showTurn(thread: Thread, io: DemoIo): Promise<TurnEnd | undefined> {
  const human = createHumanOutput({ write: io.stdout, progress: true, color: io.color });
  const events = thread.events();
  await thread.submit([{ type: 'text', text: 'The tests of this shopping cart fail. Find out why and fix it.' }]);
  for await (const event of events) {
    human.show(event);
    if (event.kind === 'record' && event.stored.record.type === 'turn.ended') return event.stored.record;
  }
  return undefined;
}

/** The changes, and the proof: the tests are run once more here, outside the engine. */
async function report(
  io: DemoIo,
  base: string,
  project: string,
  outside: string,
  end: TurnEnd | undefined,
): Promise<number> {
  const diff = spawnSync('diff', ['-ru', 'before', 'cart'], { cwd: base, encoding: 'utf8' }).stdout;
  const tests = spawnSync(process.execPath, ['--test'], { cwd: project, encoding: 'utf8' });
  const escaped = spawnSync('test', ['-e', outside]).status === 0;
  await rm(path.join(base, 'before'), { recursive: true, force: true });
  await rm(path.join(base, 'home'), { recursive: true, force: true });
  io.stdout(`\nWhat changed in ${project}:\n\n${diff}\n`);
  io.stdout(
    `Tests now: ${tests.status === 0 ? 'passing' : 'FAILING'}. Written outside the project: ${escaped ? 'YES' : 'nothing'}.\n`,
  );
  const ok = end?.status === 'completed' && tests.status === 0 && !escaped;
  if (!ok)
    io.stdout(
      `The demo did not go as scripted${end?.error ? `: ${end.error.message}` : ''}.\n'turnwright doctor' shows what this machine offers.\n`,
    );
  else
    io.stdout(
      '\nNext: set OPENAI_API_KEY or start a local model server, then run: turnwright exec "explain this repository"\n',
    );
  return ok ? 0 : 1;
}

/** Runs scripts under a real shell whose PATH leads to programs that only record their call. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { PROGRAMS, type ShellName } from './script-grammar.js';

export interface RecordedProgram {
  readonly script: number;
  readonly argv: readonly string[];
}

/** `ff` fails, the others succeed. One printf, so that concurrent calls do not mix. */
const RECORDER = `#!/bin/dash
printf '%s\\0' "$TW_ID" "$#" "\${0##*/}" "$@" >> "$TW_LOG"
[ "\${0##*/}" != ff ]
`;

export function runRecorded(root: string, scripts: readonly string[], shell: ShellName): readonly RecordedProgram[] {
  const [shims, work, log] = ['shims', 'work', 'log'].map((name) => path.join(root, name)) as [string, string, string];
  for (const folder of [shims, work, path.join(root, 'scripts')]) mkdirSync(folder, { recursive: true });
  for (const name of PROGRAMS) writeFileSync(path.join(shims, name), RECORDER, { mode: 0o755 });
  for (const name of PROGRAMS) linkInto(path.join(work, name), path.join(shims, name));
  writeFileSync(path.join(work, 'f'), 'text\n');
  writeFileSync(log, '');
  for (const [i, script] of scripts.entries()) writeFileSync(path.join(root, 'scripts', String(i)), script);
  const driver = path.join(root, 'driver');
  writeFileSync(
    driver,
    `i=0
while [ $i -lt ${scripts.length} ]; do
  s=$(cat ${root}/scripts/$i; echo .)
  ( cd ${work}; TW_ID=$i timeout -k 1 3 ${shell} -c "\${s%.}" </dev/null >/dev/null 2>&1 )
  i=$((i+1))
done
`,
  );
  chmodSync(driver, 0o755);
  const env = { PATH: `${shims}:/usr/bin:/bin`, TW_LOG: log, HOME: work, LC_ALL: 'C.UTF-8' };
  const ended = spawnSync(...confined(root, ['dash', driver]), {
    env,
    cwd: work,
    timeout: 60_000 + scripts.length * 500,
    stdio: 'ignore',
  });
  if (ended.status !== 0)
    throw new Error(`the recording shell ended with ${ended.status ?? ended.signal ?? String(ended.error)}`);
  return parseLog(readFileSync(log, 'utf8'));
}

function linkInto(link: string, target: string): void {
  try {
    symlinkSync(target, link);
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error;
  }
}

/** Inside bubblewrap only the scratch folder can be written and nothing can be reached. */
function confined(root: string, argv: readonly string[]): [string, string[]] {
  const flags = [
    '--ro-bind',
    '/',
    '/',
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    '--bind',
    root,
    root,
    '--unshare-net',
    '--unshare-pid',
    '--die-with-parent',
  ];
  const works = spawnSync('bwrap', [...flags, 'true'], { stdio: 'ignore' }).status === 0;
  return works ? ['bwrap', [...flags, ...argv]] : [argv[0]!, argv.slice(1)];
}

function parseLog(text: string): readonly RecordedProgram[] {
  const fields = text.split('\0');
  const out: RecordedProgram[] = [];
  for (let at = 0; at + 2 < fields.length; ) {
    const count = Number(fields[at + 1]);
    out.push({ script: Number(fields[at]), argv: fields.slice(at + 2, at + 3 + count) });
    at += 3 + count;
  }
  return out;
}

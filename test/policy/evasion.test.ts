/**
 * Ways to start a program that tools of this kind have missed. Each runs under a real bash; whatever it starts must be
 * among the commands lowering found, or lowering must have said that it cannot know.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { lowerCommand } from '../../src/policy/index.js';
import { runRecorded } from './fuzz/run-recorded.js';

const SCRIPTS = [
  "test -v 'a[$(aa)]'",
  "[ -v 'a[$(aa)]' ]",
  "[[ -v 'a[$(aa)]' ]]",
  "printf -v 'a[$(aa)]' x",
  "unset 'a[$(aa)]'",
  "let 'y=a[$(aa)]'",
  "declare 'a[$(aa)]=1'",
  "read 'a[$(aa)]' <f",
  "y='a[$(aa)]'; echo $((y))",
  "y='a[$(aa)]'; (( y ))",
  "y='a[$(aa)]'; [[ y -eq 1 ]]",
  'y=\'a[$(aa)]\'; echo "${V:y}"',
  "declare -i z='a[$(aa)]'",
  "y='a[$(aa)]'; arr[y]=1",
  "y='x[$(aa)]'; echo ${!y}",
  "y='$(aa)'; echo ${y@P}",
  "PS4='$(aa)'; set -x; true",
  'mapfile -C aa -c 1 < f',
  'BASH_ENV=f bash -c :',
  'command_not_found_handle() { aa; }; nope',
  'trap aa DEBUG; true',
  "trap 'aa' ERR; false",
  'exec 5< <(aa)',
  'cat <<< `aa`',
  'printf \'%s\' "$(aa)"',
  'x=(`aa`)',
  'echo {a,$(aa)}',
  'a=aa; $a',
  '""aa',
  "[ 1 -eq 'a[$(aa)]' ]",
  "export 'a[$(aa)]=1'",
  'local x',
  "typeset -n r='a[$(aa)]'; r=1",
  'for ((;a[$(aa)];)); do break; done',
  'echo ${x[$(aa)]}',
  'select x in 1; do aa; done <<< 1',
  "env -S 'aa b'",
  "env -iS 'PATH=/bin aa'",
  'xargs -a f aa',
  "find . -maxdepth 0 -exec sh -c 'aa' \\;",
  'coproc { aa; }; wait',
  'time -p aa',
  'if aa; then :; fi',
  'function x() { aa; }; x',
  'x() ( aa ); x',
  '! ! aa',
  '{ aa; } 2>&1',
  'case $(aa) in *) ;; esac',
  'eval aa',
  "eval 'eval aa'",
  'source <(echo aa)',
  '. /dev/stdin <<< aa',
  'echo aa | source /dev/stdin',
  'bash -s <<< aa',
  'bash <(echo aa)',
  'read x < <(echo aa); $x',
  'set -- aa; "$@"',
  'hash -p "$PWD/aa" zz; zz',
  'alias zz=aa; shopt -s expand_aliases\nzz',
  'shopt -s expand_aliases; alias zz=aa\nzz',
  'enable -n echo; aa',
  'type aa',
  'compgen -C aa',
  'printf -v x aa; $x',
  'nice nohup setsid -w env aa',
  'timeout --signal=KILL 2 aa',
  'stdbuf -oL -eL aa',
  'nice --adjustment=1 aa',
  'find . -maxdepth 0 -ok aa \\; < f',
  'busybox aa',
  'flock f aa',
  'flock f -c aa',
  'script -qc aa /dev/null',
  'parallel aa ::: 1',
  'watch -g aa',
  "xargs -I% sh -c 'aa %' < f",
  'find . -maxdepth 0 -execdir aa {} +',
  'exec aa',
  'builtin eval aa',
  'command eval aa',
  '\\eval aa',
  "'eval' aa",
  'builtin command aa',
  'aa;',
  'aa&',
  '(aa)',
  '$(echo aa)',
  '`echo aa`',
  'x=$(aa)',
  'x=1 aa',
  'aa() { bb; }; aa',
  'unset -f aa; aa',
  'ulimit -t 9; aa',
];

it('every way to start a program is seen', { timeout: 300_000 }, () => {
  const root = mkdtempSync(path.join(tmpdir(), 'tw-evasion-'));
  const ran = runRecorded(root, SCRIPTS, 'bash');
  rmSync(root, { recursive: true, force: true });
  const missed = ran.filter(({ script, argv }) => {
    const { segments, unknown } = lowerCommand(['/bin/bash', '-lc', SCRIPTS[script]!], { cwd: '/w' });
    const names = segments.map(({ words: [name] }) => (typeof name === 'string' ? name.split('/').at(-1) : undefined));
    return unknown.length === 0 && !names.includes(argv[0]);
  });
  expect(missed.map(({ script, argv }) => [SCRIPTS[script], argv])).toEqual([]);
  // Most of them do start it; a list that starts nothing would prove nothing.
  expect(new Set(ran.map(({ script }) => script)).size).toBeGreaterThan(SCRIPTS.length * 0.7);
});

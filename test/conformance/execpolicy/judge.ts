/** How a recorded case is judged: unmarked cases bind; a mark names a deliberate difference. */
import type { RecordedCall, RecordedExpectation, Seen } from './run-tool-call.js';

const RANK = { run: 0, ask: 1, refuse: 2 } as const;
/** Programs for which a one-word prefix would allow anything. */
const BROAD = new Set(
  'sh bash zsh dash ksh fish pwsh python python2 python3 node nodejs deno bun perl ruby php lua awk env xargs exec eval command time timeout nice nohup setsid stdbuf ionice watch find ssh scp sftp rsync curl wget nc ncat socat telnet ftp sudo su doas pkexec run0 chroot unshare nsenter docker podman systemd-run trap source .'.split(' '),
);

export function judge(call: RecordedCall, expect: RecordedExpectation, seen: Seen): string[] {
  const marks = new Set(call.deviations ?? []);
  const problem = outcomeProblem(call, expect, seen, marks);
  if (problem) return [problem];
  const out: string[] = [];
  const stricter = RANK[seen.outcome] > RANK[expect.outcome];
  const ranOutside = seen.outcome === 'run' && seen.free;
  if (expect.file_exists !== undefined && call.answers === undefined && ranOutside !== expect.file_exists) {
    if (ranOutside || !(stricter || marks.has('W1') || marks.has('W11'))) out.push(ranOutside ? 'it left the sandbox' : 'it stayed in the sandbox');
  }
  if (seen.outcome !== 'ask' || expect.outcome !== 'ask') return out;
  out.push(...reasonProblems(expect.reason, seen.reason), ...amendmentProblems(expect, seen, marks));
  return out;
}

function outcomeProblem(call: RecordedCall, expect: RecordedExpectation, seen: Seen, marks: ReadonlySet<string>): string | undefined {
  const got = RANK[seen.outcome];
  const recorded = RANK[expect.outcome];
  const contained = got === recorded && call.check_file !== undefined && !(seen.outcome === 'run' && seen.free);
  const bad =
    marks.has('W2') || marks.has('W3')
      ? got <= recorded
      : marks.has('W1')
        ? got <= recorded && !contained
        : marks.has('W4')
          ? (call.rules?.length ?? 0) > 1
            ? seen.outcome !== 'refuse'
            : got <= recorded
          : marks.has('W5')
            ? got < recorded
            : marks.has('W7')
              ? got !== recorded && !(expect.outcome === 'ask' && seen.outcome === 'run')
              : got !== recorded;
  if (!bad) return undefined;
  const said = seen.answer?.kind === 'skip' ? '' : ` (${seen.answer?.reason ?? ''})`;
  return `${seen.outcome}, recorded ${expect.outcome}${said}`;
}

function reasonProblems(want: string | null | undefined, got: string | null): string[] {
  if (want === null || want === undefined || want === '') return [];
  const said = /^`[\s\S]*` requires approval: ([\s\S]*)$/.exec(want)?.[1] ?? (/` requires approval by policy$/.test(want) ? '' : want);
  return got?.includes(said) ? [] : [`reason ${JSON.stringify(got)}, recorded ${JSON.stringify(want)}`];
}

function amendmentProblems(expect: RecordedExpectation, seen: Seen, marks: ReadonlySet<string>): string[] {
  const { amendment } = seen;
  if (marks.has('W6')) {
    const script = amendment && /^(.*\/)?(ba|z|da|k)?sh$/.test(amendment[0] ?? '') && /^-\w*c$/.test(amendment[1] ?? '');
    const program = amendment?.length === 1 && BROAD.has(amendment[0]!.split('/').at(-1)!);
    return script || program ? [`amendment ${JSON.stringify(amendment)} allows too much`] : [];
  }
  const want = expect.proposed_amendment ?? null;
  return JSON.stringify(amendment) === JSON.stringify(want) ? [] : [`amendment ${JSON.stringify(amendment)}, recorded ${JSON.stringify(want)}`];
}

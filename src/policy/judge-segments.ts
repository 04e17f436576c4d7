/** Rules, safety and danger of every segment, and the questions that follow from them. */
import { assessDanger, type Danger } from './dangerous-commands.js';
import type { PolicyInput } from './decide-requirement.js';
import { type FileEffect, type Lowered, type Segment, wordText } from './lower/segment.js';
import { matchSegment, type RuleHit, strictest } from './match-segment.js';
import { BLOCKED, FORCED_RM } from './reasons.js';
import { baseName, normalizePath } from './rules/rule-functions.js';
import { hostCommand } from './rules/rule-match.js';
import { isSafeCommand } from './safe-commands.js';

/**
 * How far a segment is covered without asking: by an allow rule on plain words (which may free it of the sandbox), by a
 * rule in a richer script, by the list of safe commands, or not.
 */
export type Cover = 'granted' | 'covered' | 'safe' | 'none';

export interface Judged {
  readonly segment: Segment;
  readonly hits: readonly RuleHit[];
  readonly danger: Danger | undefined;
  readonly cover: Cover;
}

export type QuestionKind =
  | 'danger'
  | 'escalation'
  | 'untrusted'
  | 'unknown'
  | 'outside'
  | 'tainted'
  | 'impostor'
  | 'broken';

export interface Question {
  readonly kind: QuestionKind;
  readonly why: string;
  /** Tell the person; where false, the question speaks for itself. */
  readonly told: boolean;
}

export interface JudgedCommand {
  readonly segments: readonly Judged[];
  readonly wrapper: readonly RuleHit[];
  /** Every hit, wrapper first. */
  readonly hits: readonly RuleHit[];
  readonly questions: readonly Question[];
  /** Text of a refusal under `never`, when a danger is too great to run unasked. */
  readonly forcedOrWorse: string | undefined;
  readonly allGranted: boolean;
}

export function judgeSegments(input: PolicyInput, lowered: Lowered): JudgedCommand {
  const facts = { cwd: input.cwd, ...input.facts };
  const wrapper = lowered.plain ? [] : wrapperHits(input, lowered);
  const drafts = lowered.segments.map((segment) => ({
    segment,
    hits: matchSegment(input.policy, segment, facts),
    danger: assessDanger(segment.words),
  }));
  const covers = coverAll(input, drafts);
  const segments = drafts.map((draft, i) => ({ ...draft, cover: covers[i]! }));
  const hits =
    segments.length === 1 && wrapper.length === 0
      ? segments[0]!.hits
      : [...wrapper, ...segments.flatMap((judged) => judged.hits)];
  const wrapperAllows = wrapper.some((hit) => hit.rule.decision === 'allow' && hit.void === undefined);
  const top = segments.filter(({ segment }) => segment.parent === undefined);
  const allGranted =
    wrapperAllows || (lowered.plain && top.length > 0 && top.every(({ cover }) => cover === 'granted'));
  const danger = allGranted ? undefined : worstDanger(input, lowered, segments);
  return {
    segments,
    wrapper,
    hits,
    questions: allGranted ? [] : questionsOf(input, lowered, segments, danger),
    forcedOrWorse: danger?.refusal,
    allGranted,
  };
}

/** A script that is not plain also is one command of its shell, with its text as last word (Codex 0.171). */
function wrapperHits(input: PolicyInput, lowered: Lowered): readonly RuleHit[] {
  const { policy } = input;
  const exact = policy.index.lookup(lowered.argv);
  const via = exact.length > 0 ? undefined : hostCommand(lowered.argv, { hosts: policy.hosts, cwd: input.cwd });
  const words = via?.words ?? lowered.argv;
  return (via ? policy.index.lookup(via.words) : exact).map((rule) => ({
    rule,
    how: via ? ('path' as const) : ('words' as const),
    prefix: words.slice(0, rule.pattern.length),
    ...(rule.decision === 'allow' && policy.unconfirmed.has(rule.origin.file)
      ? { void: 'its file waits for confirmation' }
      : {}),
  }));
}

type Draft = Omit<Judged, 'cover'>;

/** Children stand after their parents, so one pass from the end sees every child first. */
function coverAll(input: PolicyInput, drafts: readonly Draft[]): readonly Cover[] {
  const covers: Cover[] = new Array<Cover>(drafts.length).fill('none');
  const ofChildren = new Map<number, Cover>();
  for (let i = drafts.length - 1; i >= 0; i--) {
    const draft = drafts[i]!;
    const cover = coverOf(input, draft, ofChildren.get(i));
    covers[i] = cover;
    const { parent } = draft.segment;
    if (parent !== undefined) ofChildren.set(parent, least(ofChildren.get(parent), cover));
  }
  return covers;
}

const COVER_RANK: Readonly<Record<Cover, number>> = { none: 0, safe: 1, covered: 2, granted: 3 };

function least(a: Cover | undefined, b: Cover): Cover {
  return a === undefined || COVER_RANK[b] < COVER_RANK[a] ? b : a;
}

function coverOf(input: PolicyInput, { segment, hits }: Draft, children: Cover | undefined): Cover {
  if (strictest(hits) === 'allow') return segment.plain && segment.via === 'script' ? 'granted' : 'covered';
  if (segment.transparent && children !== undefined) return children === 'granted' ? 'covered' : children;
  const safe = (input.knownSafeCommands ?? true) && segment.argv !== undefined && segment.taint === undefined;
  return safe && isSafeCommand(segment.argv!, input.facts) ? 'safe' : 'none';
}

function isRestricted(input: PolicyInput): boolean {
  return input.sandbox.mode === 'read-only' || input.sandbox.mode === 'workspace-write';
}

// ---- danger

interface WeighedDanger {
  readonly why: string;
  /** Set when the danger may not run unasked even where nobody can be asked. */
  readonly refusal: string | undefined;
}

const DISK = /^\/dev\/(sd|hd|vd|xvd|nvme|mmcblk|disk|mapper|md|loop)/;

function worstDanger(input: PolicyInput, lowered: Lowered, segments: readonly Judged[]): WeighedDanger | undefined {
  const disk = lowered.effects.find(({ kind, path }) => kind === 'write' && path !== undefined && DISK.test(path));
  if (disk) return { why: `it writes to ${disk.text}`, refusal: BLOCKED };
  if (lowered.tooNested) return { why: 'launchers are nested too deeply to be judged', refusal: BLOCKED };
  const weighed = segments.map((judged) => weigh(input, judged, segments)).filter((danger) => danger !== undefined);
  const pipedCode = !isRestricted(input) && runsFetchedCode(lowered);
  return (
    weighed.find((danger) => danger.refusal !== undefined) ??
    weighed[0] ??
    (pipedCode ? { why: 'runs code from the network', refusal: undefined } : undefined)
  );
}

function weigh(input: PolicyInput, judged: Judged, segments: readonly Judged[]): WeighedDanger | undefined {
  const { danger, segment } = judged;
  if (!danger || grantedAbove(judged, segments)) return undefined;
  const contained = isRestricted(input);
  const why = `\`${segment.words.map(wordText).join(' ').slice(0, 200)}\` ${danger.what}`;
  if (danger.grade === 'catastrophic') return { why, refusal: isRm(segment) ? FORCED_RM : BLOCKED };
  if (danger.grade === 'forced' && (!contained || isRecognised(segment))) return { why, refusal: FORCED_RM };
  return contained ? undefined : { why, refusal: undefined };
}

/** A rule that plainly allows the segment, or the launcher around it, speaks for its danger. */
function grantedAbove(judged: Judged, segments: readonly Judged[]): boolean {
  for (
    let at: Judged | undefined = judged;
    at;
    at = at.segment.parent === undefined ? undefined : segments[at.segment.parent]
  ) {
    if (at.cover === 'granted') return true;
  }
  return false;
}

function isRm(segment: Segment): boolean {
  const [name] = segment.words;
  return typeof name === 'string' && baseName(name) === 'rm';
}

/**
 * Codex 0.171 asks for `rm -f` inside a sandbox only as it recognises it: not behind a backslash, and not with files it
 * is handed (`xargs`). Inside the sandbox the reach is the workspace either way; outside, every spelling asks.
 */
function isRecognised(segment: Segment): boolean {
  return segment.unescaped && !segment.words.some((word) => typeof word !== 'string' && word.text === '…');
}

function runsFetchedCode(lowered: Lowered): boolean {
  if (!lowered.unknown.some((why) => why.endsWith('from its input'))) return false;
  return lowered.segments.some(
    ({ words: [name] }) => typeof name === 'string' && /^(curl|wget|fetch|http|aria2c)$/.test(baseName(name)),
  );
}

// ---- questions

function questionsOf(
  input: PolicyInput,
  lowered: Lowered,
  segments: readonly Judged[],
  danger: WeighedDanger | undefined,
): readonly Question[] {
  const { approvalPolicy, policy } = input;
  const never = approvalPolicy === 'never';
  const restricted = isRestricted(input);
  const top = segments.filter(({ segment }) => segment.parent === undefined);
  const open = top.filter(({ cover }) => cover === 'none');
  const ruled = segments.some(({ cover }) => cover === 'covered' || cover === 'granted');
  const writes = lowered.effects.filter((effect) => effect.kind === 'write');
  const outside = writes.filter((effect) => !isInside(input, effect));
  const settled = open.length === 0 && top.length > 0 && lowered.unknown.length === 0 && outside.length === 0;
  // A safe command only reads; a file it is made to write needs a rule's word.
  const covered = settled && (writes.length === 0 || top.every(({ cover }) => cover !== 'safe'));
  const out: Question[] = [];
  const add = (kind: QuestionKind, why: string, told = true) => out.push({ kind, why, told });
  if (danger && (danger.refusal !== undefined || !never)) add('danger', danger.why, false);
  if (lowered.unknown.length > 0 && (policy.restricts || (!restricted && !never))) add('unknown', lowered.unknown[0]!);
  if (!never && ruled && outside.length > 0)
    add('outside', `it writes outside the writable folders: ${outside[0]!.text}`);
  const poisoned = never ? undefined : segments.find(isPoisoned);
  if (poisoned) add('tainted', `a rule would allow it, but ${poisoned.segment.taint}`);
  const impostor = segments.flatMap(({ hits }) => hits).find((hit) => hit.impostor);
  if (impostor) add('impostor', impostor.void ?? '');
  if (policy.broken.length > 0 && !covered) add('broken', brokenText(input));
  if (input.escalationRequested && restricted && !never) add('escalation', 'it asks to leave the sandbox', false);
  if (approvalPolicy === 'untrusted' && !covered) add('untrusted', untrustedText(open, ruled), ruled);
  return out;
}

function isPoisoned({ segment, hits }: Judged): boolean {
  return segment.carried && hits.some((hit) => hit.rule.decision === 'allow' && hit.void === segment.taint);
}

function untrustedText(open: readonly Judged[], ruled: boolean): string {
  if (!ruled || open.length === 0) return 'the approval policy asks before every command';
  const list = open.slice(0, 5).map(({ segment }) => `\`${segment.words.map(wordText).join(' ').slice(0, 100)}\``);
  return `no rule covers ${list.join(', ')}${open.length > 5 ? ` and ${open.length - 5} more` : ''}`;
}

function brokenText({ policy }: PolicyInput): string {
  const [first] = policy.broken;
  return `a rules file is broken, so every command without an allow rule asks: ${first?.message ?? ''}`;
}

function isInside(input: PolicyInput, effect: FileEffect): boolean {
  const { sandbox, cwd, facts } = input;
  const { path } = effect;
  if (path === undefined || sandbox.mode === 'read-only') return false;
  const roots = [...sandbox.writableRoots];
  if (!isRestricted(input)) roots.push(cwd);
  if (!sandbox.excludeSlashTmp) roots.push('/tmp');
  if (!sandbox.excludeTmpdirEnvVar && facts?.tmpdir) roots.push(facts.tmpdir);
  const under = (root: string) =>
    path === normalizePath(root) || path.startsWith(`${normalizePath(root).replace(/\/$/, '')}/`);
  return roots.some(under) && !sandbox.readOnly.some(under);
}

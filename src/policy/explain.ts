/** An answer in words: what a command comes to, which rules matched, and why the answer is what it is. */
import type { PolicyAnswer } from './decide-requirement.js';
import type { Judged } from './judge-segments.js';
import { wordText } from './lower/segment.js';
import type { RuleHit } from './match-segment.js';
import { printPattern } from './rules/parse-rules.js';
import { ruleName } from './rules/rule.js';
import { joinWords } from './rules/words.js';
import { outcomeOf } from './simulate.js';

/** Plain data of an explanation, for JSON. */
export interface ExplanationReport {
  readonly command: readonly string[];
  readonly plain: boolean;
  readonly segments: readonly SegmentReport[];
  readonly wrapper: readonly HitReport[];
  readonly unknown: readonly string[];
  readonly effects: readonly { readonly kind: string; readonly text: string; readonly path?: string }[];
  readonly outcome: string;
  readonly because: readonly string[];
  readonly reason?: string;
  readonly proposed?: readonly string[];
  readonly rule?: string;
}

export interface SegmentReport {
  /** Null stands for a word known only at run time. */
  readonly words: readonly (string | null)[];
  readonly text: string;
  readonly via: string;
  readonly startedBy?: number;
  readonly cover: string;
  readonly danger?: string;
  readonly taint?: string;
  readonly rules: readonly HitReport[];
}

export interface HitReport {
  readonly rule: string;
  readonly layer: string;
  readonly pattern: string;
  readonly decision: string;
  readonly how: string;
  readonly justification?: string;
  readonly void?: string;
}

export function reportAnswer(answer: PolicyAnswer): ExplanationReport {
  const { lowered, segments, wrapper, because } = answer.explanation;
  const reason = answer.kind === 'skip' ? undefined : answer.reason;
  const proposed = answer.kind === 'forbidden' ? undefined : answer.proposed;
  return {
    command: lowered.argv,
    plain: lowered.plain,
    segments: segments.map(reportSegment),
    wrapper: wrapper.map(reportHit),
    unknown: lowered.unknown,
    effects: lowered.effects.map(({ kind, text, path }) => ({ kind, text, ...(path === undefined ? {} : { path }) })),
    outcome: outcomeOf(answer),
    because,
    ...(reason === undefined ? {} : { reason }),
    ...(proposed ? { proposed: proposed.prefix } : {}),
    ...(answer.rule === undefined ? {} : { rule: answer.rule }),
  };
}

function reportSegment({ segment, hits, danger, cover }: Judged): SegmentReport {
  return {
    words: segment.words.map((word) => (typeof word === 'string' ? word : null)),
    text: segment.argv ? joinWords(segment.argv) : segment.words.map(wordText).join(' '),
    via: segment.via,
    ...(segment.parent === undefined ? {} : { startedBy: segment.parent }),
    cover,
    ...(danger ? { danger: `${danger.grade}: ${danger.what}` } : {}),
    ...(segment.taint === undefined ? {} : { taint: segment.taint }),
    rules: hits.map(reportHit),
  };
}

function reportHit({ rule, how, void: empty }: RuleHit): HitReport {
  return {
    rule: ruleName(rule.origin),
    layer: rule.origin.layer,
    pattern: printPattern(rule.pattern),
    decision: rule.decision,
    how,
    ...(rule.justification === undefined ? {} : { justification: rule.justification }),
    ...(empty === undefined ? {} : { void: empty }),
  };
}

/** The report for a terminal. */
export function printReport(report: ExplanationReport): string {
  const lines = [
    `command   ${joinWords(report.command)}`,
    `syntax    ${report.plain ? 'plain' : 'more than plain: a rule may cover it, not free it of the sandbox'}`,
    ...report.segments.flatMap(printSegment),
    ...report.wrapper.map((hit) => `shell     ${printHit(hit)}`),
    ...report.unknown.map((why) => `unknown   ${why}`),
    ...report.effects.map(({ kind, text, path }) => `${kind.padEnd(10)}${path ?? `${text} (known only at run time)`}`),
    `outcome   ${report.outcome}`,
    ...report.because.map((why) => `because   ${why}`),
    ...(report.reason === undefined ? [] : [`reason    ${report.reason}`]),
    ...(report.proposed ? [`proposed  allow ${joinWords(report.proposed)}`] : []),
  ];
  return `${lines.join('\n')}\n`;
}

function printSegment(segment: SegmentReport, index: number): string[] {
  const started = segment.startedBy === undefined ? '' : ` (started by ${segment.startedBy + 1})`;
  return [
    `${String(index + 1).padStart(3)}       ${segment.text}${started}`,
    `          ${COVERS[segment.cover] ?? segment.cover}${segment.danger ? `; ${segment.danger}` : ''}${segment.taint ? `; ${segment.taint}` : ''}`,
    ...segment.rules.map((hit) => `          ${printHit(hit)}`),
  ];
}

const COVERS: Readonly<Record<string, string>> = {
  granted: 'allowed by a rule, also outside the sandbox',
  covered: 'covered by a rule',
  safe: 'only reads and prints',
  none: 'no rule allows it',
};

function printHit(hit: HitReport): string {
  const how = hit.how === 'words' ? '' : ` by ${hit.how}`;
  const why = hit.justification === undefined ? '' : `: ${hit.justification}`;
  return `${hit.decision}${how} ${hit.pattern} at ${hit.rule} (${hit.layer})${why}${hit.void === undefined ? '' : ` — void: ${hit.void}`}`;
}

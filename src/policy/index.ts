export type { CheckMatch, CheckResult } from './check.js';
export { checkCommand } from './check.js';
export type { CommandCall, CommandPolicyOptions } from './command-policy.js';
export { createCommandPolicy } from './command-policy.js';
export type { Compacted } from './compact-rules.js';
export { compactRules } from './compact-rules.js';
export type { Danger, DangerGrade } from './dangerous-commands.js';
export { assessDanger, DANGEROUS_COMMANDS } from './dangerous-commands.js';
export type { Explanation, PolicyAnswer, PolicyInput } from './decide-requirement.js';
export { decideLowered, decideRequirement, proposeAmendment } from './decide-requirement.js';
export type { ExplanationReport, HitReport, SegmentReport } from './explain.js';
export { printReport, reportAnswer } from './explain.js';
export { textHash as fingerprint } from './fingerprint.js';
export type { Cover, Judged, Question } from './judge-segments.js';
export type { LintFinding, LintKind } from './lint-rules.js';
export { lintRules } from './lint-rules.js';
export { LAUNCHERS } from './lower/launchers.js';
export type { LowerOptions } from './lower/lower-command.js';
export { lowerCommand, shellScript } from './lower/lower-command.js';
export type { FileEffect, Lowered, Segment, SegmentWord } from './lower/segment.js';
export { UnknownWord, wordText } from './lower/segment.js';
export { managedRules } from './managed-rules.js';
export type { HitHow, RuleHit } from './match-segment.js';
export type { Policy, PolicyOptions } from './policy.js';
export { createPolicy, networkLists, withRule } from './policy.js';
export { printLearnedRule, printRules } from './print-rules.js';
export { gradedPrefix, isTooBroad } from './propose-amendment.js';
export type { ParseRulesOptions } from './rules/parse-rules.js';
export { parseRules } from './rules/parse-rules.js';
export type {
  HostExecutable,
  NetworkRule,
  PrefixRule,
  RuleDecision,
  RuleExamples,
  RuleFile,
  RuleLayer,
  RuleOrigin,
} from './rules/rule.js';
export { ruleName } from './rules/rule.js';
export type { RuleErrorKind, SourcePosition } from './rules/rule-error.js';
export { RulesError } from './rules/rule-error.js';
export { joinWords, quoteWord, splitWords } from './rules/words.js';
export { isSafeCommand, SAFE_COMMANDS } from './safe-commands.js';
export type { Outcome, PastCommand, SimulatedCommand } from './simulate.js';
export { outcomeOf, simulate } from './simulate.js';
export type { CommandAction, SummaryOptions } from './summarize-command.js';
export { summarizeCommand, summarizeLowered } from './summarize-command.js';

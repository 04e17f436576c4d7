/** The parts of the policy that read and write files. */

export { confirmationsFile, confirmRules, readConfirmations } from './confirmed-rules.js';
export { gitIsPlain } from './git-helpers.js';
export type { LearnedNote, LearnedRule } from './learned-rules.js';
export { learnedRulesFile, learnRule, listLearned, replaceLearned, revokeRule } from './learned-rules.js';
export { managedRules } from './managed-rules.js';
export type { PolicySource, PolicySourceOptions } from './policy-source.js';
export { createPolicySource } from './policy-source.js';
export type { ReadFile, RuleDirectory, RuleSources, SystemPlaces } from './rule-files.js';
export { listRuleFiles, loadPolicy, readRulesText, ruleDirectories } from './rule-files.js';

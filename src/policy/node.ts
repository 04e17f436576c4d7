/** The parts of the policy that read and write files. */
export type { ReadFile, RuleDirectory, RuleSources, SystemPlaces } from './rule-files.js';
export { listRuleFiles, loadPolicy, readRulesText, ruleDirectories } from './rule-files.js';

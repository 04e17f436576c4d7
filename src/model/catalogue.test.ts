import { expect, test } from 'vitest';
import { lookUpModel } from './catalogue.js';

test.each<[string, boolean, boolean]>([
  ['gpt-5.5', true, true],
  ['openai/gpt-5.5', true, true],
  ['gpt-5.5-2026-02-01', true, true],
  ['gpt-5.5-codex', true, true],
  ['gpt-6.2-sol', true, true],
  ['gpt-4.1-mini', true, false],
  ['o4-mini', true, false],
  ['gpt-5.55', false, false],
  ['gpt-5.1-codex', false, false],
  ['qwen3:8b', false, false],
  ['totally-unknown-model', false, false],
])('%s: known %s, free-text tools %s', (model, known, customTools) => {
  expect(lookUpModel(model)).toMatchObject({ known, customTools });
});

test('codex models take no verbosity; an unknown model gets no default settings', () => {
  expect(lookUpModel('gpt-5.5-codex')).toMatchObject({ verbosity: false });
  expect(lookUpModel('gpt-5.5-codex')).not.toHaveProperty('defaultVerbosity');
  expect(lookUpModel('unknown')).not.toHaveProperty('defaultEffort');
});

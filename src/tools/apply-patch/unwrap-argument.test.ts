import { describe, expect, test } from 'vitest';
import { explainArgument, unwrapPatchArgument } from './unwrap-argument.js';

const PATCH = '*** Begin Patch\n*** Add File: a\n+x\n*** End Patch';
const HEREDOC = `apply_patch <<'EOF'\n${PATCH}\nEOF`;

describe('what is taken off', () => {
  const rows: [string, string, string][] = [
    ['nothing from a bare patch', PATCH, PATCH],
    ['an argument array', JSON.stringify(['apply_patch', PATCH]), PATCH],
    ['an argument array in a field', JSON.stringify({ command: ['apply_patch', PATCH] }), PATCH],
    ['the function form', JSON.stringify({ input: PATCH }), PATCH],
    ['the function form inside itself', JSON.stringify({ input: JSON.stringify({ input: PATCH }) }), PATCH],
    ['a quoted string', JSON.stringify(PATCH), PATCH],
    ['a shell script in an argument array', JSON.stringify(['bash', '-lc', HEREDOC]), `${PATCH}\n`],
    ['a script', HEREDOC, `${PATCH}\n`],
    ['a code fence', `\`\`\`diff\n${PATCH}\n\`\`\`\n`, PATCH],
    ['a fence in JSON', JSON.stringify({ input: `~~~\n${PATCH}\n~~~` }), PATCH],
    ['not what is no wrapper', `Here you are:\n${PATCH}`, `Here you are:\n${PATCH}`],
    ['not another program', JSON.stringify(['cat', PATCH]), JSON.stringify(['cat', PATCH])],
    [
      'not a patch that shows JSON or fences',
      `*** Begin Patch\n*** Add File: a\n+\`\`\`\n*** End Patch`,
      '*** Begin Patch\n*** Add File: a\n+```\n*** End Patch',
    ],
  ];
  test.each(rows)('%s', (_, argument, patch) => {
    expect(unwrapPatchArgument(argument).patch).toBe(patch);
  });

  test('the directory of a script is kept', () => {
    expect(unwrapPatchArgument(JSON.stringify(['sh', '-c', `cd lib && ${HEREDOC}`])).workdir).toBe('lib');
  });
});

describe('what the model is told', () => {
  const rows: [string, string, RegExp][] = [
    ['JSON', '{"foo": 1}', /bare patch text, not JSON/],
    ['an open fence', `\`\`\`\n${PATCH}`, /without a code fence/],
    ['a unified diff', 'diff --git a/x b/x\n--- a/x\n+++ b/x\n', /unified diff/],
    ['prose around it', `Sure!\n${PATCH}`, /nothing before or after/],
    ['anything else', 'hello', /must be the bare patch text/],
  ];
  test.each(rows)('%s', (_, argument, hint) => {
    expect(explainArgument(argument)).toMatch(hint);
  });
});

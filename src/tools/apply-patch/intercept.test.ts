import { describe, expect, test } from 'vitest';
import { type InterceptedPatch, interceptApplyPatch } from './intercept.js';

const PATCH = '*** Begin Patch\n*** Add File: a\n+it\'s "$HOME"\n*** End Patch';
const PLAIN = '*** Begin Patch\n*** Add File: a\n+x\n*** End Patch';

describe('scripts that only apply a patch', () => {
  const rows: [string, string, InterceptedPatch][] = [
    ['a quoted here-document', `apply_patch <<'EOF'\n${PATCH}\nEOF`, { patch: `${PATCH}\n` }],
    [
      'double quotes, another word, space, a final newline',
      `applypatch << "PATCH"\n${PATCH}\nPATCH\n`,
      { patch: `${PATCH}\n` },
    ],
    ['a backslash quotes as well', `apply_patch <<\\EOF\n${PATCH}\nEOF`, { patch: `${PATCH}\n` }],
    ['an unquoted word, nothing to expand', `apply_patch <<EOF\n${PLAIN}\nEOF`, { patch: `${PLAIN}\n` }],
    [
      'leading tabs are taken off after <<-',
      `apply_patch <<-'EOF'\n\t*** Begin Patch\n\t*** End Patch\n\tEOF`,
      { patch: '*** Begin Patch\n*** End Patch\n' },
    ],
    [
      'behind a change of directory',
      `cd src/lib && apply_patch <<'EOF'\n${PLAIN}\nEOF`,
      { patch: `${PLAIN}\n`, workdir: 'src/lib' },
    ],
    [
      'a quoted directory',
      `cd "my dir" &&\n  apply_patch <<'EOF'\n${PLAIN}\nEOF`,
      { patch: `${PLAIN}\n`, workdir: 'my dir' },
    ],
    ['a single-quoted argument', `apply_patch '${PLAIN}'`, { patch: PLAIN }],
    [
      'an apostrophe the shell way',
      `apply_patch '*** Begin Patch\n+it'\\''s\n*** End Patch'`,
      { patch: "*** Begin Patch\n+it's\n*** End Patch" },
    ],
    [
      'a double-quoted argument',
      `apply_patch "*** Begin Patch\n+say \\"\\$1\\" \\n\n*** End Patch"`,
      { patch: '*** Begin Patch\n+say "$1" \\n\n*** End Patch' },
    ],
    ['an argument behind a change of directory', `cd a && apply_patch '${PLAIN}'\n`, { patch: PLAIN, workdir: 'a' }],
  ];
  test.each(rows)('%s', (_, script, expected) => {
    expect(interceptApplyPatch(script)).toEqual(expected);
  });
});

describe('scripts that do something else', () => {
  const rows: [string, string][] = [
    ['another program', `cat <<'EOF'\n${PLAIN}\nEOF`],
    ['a longer name', `apply_patches <<'EOF'\n${PLAIN}\nEOF`],
    ['no patch', 'apply_patch'],
    ['an option', 'apply_patch --help'],
    ['a command behind it', `apply_patch <<'EOF'\n${PLAIN}\nEOF\necho done`],
    ['a command on the same line', `apply_patch <<'EOF' && make\n${PLAIN}\nEOF`],
    ['a redirect', `apply_patch <<'EOF' > log\n${PLAIN}\nEOF`],
    ['a pipe', `apply_patch <<'EOF' | tee log\n${PLAIN}\nEOF`],
    ['a command before it', `echo hi; apply_patch <<'EOF'\n${PLAIN}\nEOF`],
    ['an assignment before it', `A=1 apply_patch <<'EOF'\n${PLAIN}\nEOF`],
    ['or instead of and', `cd x || apply_patch <<'EOF'\n${PLAIN}\nEOF`],
    ['a sequence instead of and', `cd x; apply_patch <<'EOF'\n${PLAIN}\nEOF`],
    ['a directory to expand', `cd $HOME && apply_patch <<'EOF'\n${PLAIN}\nEOF`],
    ['a home directory', `cd ~/x && apply_patch <<'EOF'\n${PLAIN}\nEOF`],
    ['the last directory', `cd - && apply_patch <<'EOF'\n${PLAIN}\nEOF`],
    ['two directories', `cd a b && apply_patch <<'EOF'\n${PLAIN}\nEOF`],
    ['an unquoted word and a variable', `apply_patch <<EOF\n+$HOME\nEOF`],
    ['an unquoted word and a command', 'apply_patch <<EOF\n+`id`\nEOF'],
    ['an unquoted word and a backslash', 'apply_patch <<EOF\n+a\\\nb\nEOF'],
    ['no end', `apply_patch <<'EOF'\n${PLAIN}\n`],
    ['an indented end', `apply_patch <<'EOF'\n${PLAIN}\n  EOF`],
    ['a here-string', `apply_patch <<<'${PLAIN}'`],
    ['an argument to expand', `apply_patch "*** Begin Patch\n+$(id)\n*** End Patch"`],
    ['two arguments', `apply_patch '${PLAIN}' x`],
    ['an argument and a command', `apply_patch '${PLAIN}' && make`],
    ['an argument that is no patch', "apply_patch 'hello'"],
    ['an open quote', `apply_patch '${PLAIN}`],
    ['in the background', `apply_patch '${PLAIN}' &`],
  ];
  test.each(rows)('%s', (_, script) => {
    expect(interceptApplyPatch(script)).toBeUndefined();
  });

  test('a large patch as one argument', () => {
    const patch = `*** Begin Patch\n${'+\\"line\\"\n'.repeat(50_000)}*** End Patch`;
    expect(interceptApplyPatch(`apply_patch "${patch}"`)?.patch).toBe(patch.replaceAll('\\"', '"'));
  });
});

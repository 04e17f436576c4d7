/** How the tool is offered to a model. */
import type { ToolSpec } from '../../model/index.js';

/** The patch format for providers that can hold a model to a grammar. Stricter than what `parsePatch` reads. */
const GRAMMAR = `start: open section+ close
open: "*** Begin Patch" LF
close: "*** End Patch" LF?

section: add | remove | update
add: "*** Add File: " path LF added+
remove: "*** Delete File: " path LF
update: "*** Update File: " path LF move? edits?
move: "*** Move to: " path LF
edits: (anchor | edit)+ tail?
anchor: ("@@" | "@@ " /(.+)/) LF
edit: ("+" | "-" | " ") /(.*)/ LF
tail: "*** End of File" LF

path: /(.+)/
added: "+" /(.*)/ LF

%import common.LF
`;

export const APPLY_PATCH_SPEC: ToolSpec = {
  name: 'apply_patch',
  description: `Changes files: adds, updates, moves, deletes. The argument is the patch text itself, no JSON around it:
*** Begin Patch
*** Update File: src/a.txt
*** Move to: src/b.txt
@@ a line above the change, to say where
 a line that stays
-a line to remove
+a line to add
*** Add File: notes.txt
+first line
*** Delete File: old.txt
*** End Patch
Lines that stay or go must be as they are in the file; give about three lines around a change. Several '@@' parts of one file go from its top to its bottom. Either the whole patch is applied or nothing.`,
  kind: {
    type: 'custom',
    grammar: { syntax: 'lark', definition: GRAMMAR },
    fallback: {
      type: 'object',
      properties: {
        input: { type: 'string', description: "The patch text, from '*** Begin Patch' to '*** End Patch'." },
      },
      required: ['input'],
      additionalProperties: false,
    },
  },
};

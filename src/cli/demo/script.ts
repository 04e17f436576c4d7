/**
 * What the scripted model of `turnwright demo` says, in the format of `docs/scripted-models.md`. Only the words are
 * scripted: `expect` must be found in what the real tools answered, or the demo fails and says so.
 */
const exec = (id: string, cmd: string) => ({ call: 'exec_command', id, args: { cmd, login: false } });
const done = { done: true };

/** Steps of the script. `outside` is a path the sandbox must not let the command write. */
export function demoScript(outside: string): readonly unknown[] {
  return [
    {
      events: [
        { text: 'I will look at the project and run its tests first.', phase: 'commentary' },
        {
          call: 'update_plan',
          id: 'plan1',
          args: {
            plan: [
              { step: 'Reproduce the failure', status: 'in_progress' },
              { step: 'Fix the cart', status: 'pending' },
              { step: 'Run the tests again', status: 'pending' },
            ],
          },
        },
        exec('read', 'cat src/cart.js test/cart.test.js'),
        exec('test1', 'node --test 2>&1 | grep -E "^# (pass|fail)|expected|actual"'),
        done,
      ],
    },
    {
      expect: '# fail 2',
      events: [
        {
          text: 'Both tests fail: `total` ignores the quantity, and `discounted` takes 10 for a fraction. The first one:',
          phase: 'commentary',
        },
        {
          custom: 'apply_patch',
          id: 'patch1',
          input: `*** Begin Patch
*** Update File: src/cart.js
@@ export function total(items) {
   let sum = 0;
-  for (const item of items) sum += item.price;
+  for (const item of items) sum += item.price * item.quantity;
   return sum;
*** End Patch
`,
        },
        done,
      ],
    },
    {
      expect: 'M src/cart.js',
      events: [
        {
          text: 'Before I go on I would like to keep a copy outside the project, and clear old builds.',
          phase: 'commentary',
        },
        exec('outside', `cp src/cart.js ${outside}`),
        exec('danger', 'rm -rf ..'),
        done,
      ],
    },
    {
      expect: 'rejected',
      events: [
        {
          text: 'Neither is allowed: the sandbox keeps writes inside the project, and the policy refused the deletion. I do not need them. Now the second bug:',
          phase: 'commentary',
        },
        {
          custom: 'apply_patch',
          id: 'patch2',
          input: `*** Begin Patch
*** Update File: src/cart.js
@@ export function discounted(items, percent) {
-  return total(items) * (1 - percent);
+  return Math.round(total(items) * (1 - percent / 100));
 }
*** End Patch
`,
        },
        exec('test2', 'node --test 2>&1 | grep -E "^# (pass|fail)"'),
        done,
      ],
    },
    {
      expect: '# fail 0',
      events: [
        {
          call: 'update_plan',
          id: 'plan2',
          args: {
            plan: [
              { step: 'Reproduce the failure', status: 'completed' },
              { step: 'Fix the cart', status: 'completed' },
              { step: 'Run the tests again', status: 'completed' },
            ],
          },
        },
        done,
      ],
    },
    {
      events: [
        {
          text: 'Both tests pass.\n\n- `total` now counts the quantity (src/cart.js:4).\n- `discounted` takes whole percents and rounds to cents (src/cart.js:9).\n\nWriting outside the project and `rm -rf ..` were refused; nothing outside was touched.',
          phase: 'final_answer',
        },
        done,
      ],
    },
  ];
}

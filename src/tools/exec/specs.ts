/** What the model is offered. Names, types and ranges are Codex 0.171's; the words are ours. */
import type { ToolSpec } from '../../model/index.js';

const OUTPUT_BUDGET = {
  type: 'number',
  description: 'How many tokens of output to return at most; default 10000. Longer output loses its middle.',
};

export const execCommandSpec: ToolSpec = {
  name: 'exec_command',
  description:
    'Runs a shell command. Returns its output and exit code, or a session ID when it is still running after the wait.',
  kind: {
    type: 'function',
    parameters: {
      type: 'object',
      properties: {
        cmd: { type: 'string', description: 'The shell command.' },
        workdir: { type: 'string', description: "Directory to run it in. Defaults to the turn's directory." },
        shell: { type: 'string', description: "Shell to use: bash, zsh or sh. Defaults to the user's." },
        login: { type: 'boolean', description: 'Whether the shell reads the login profile. Omit for the default.' },
        tty: {
          type: 'boolean',
          description: 'True runs it in a terminal that write_stdin can type into. Default: plain pipes, stdin closed.',
        },
        yield_time_ms: {
          type: 'number',
          description: 'How long to wait for the end, 250 to 30000 ms; default 10000. Then it goes on as a session.',
        },
        max_output_tokens: OUTPUT_BUDGET,
        sandbox_permissions: {
          type: 'string',
          enum: ['use_default', 'require_escalated'],
          description: '`require_escalated` asks to run it outside the sandbox. Default: `use_default`.',
        },
        justification: {
          type: 'string',
          description: 'With `require_escalated`: the question for the user, in one sentence.',
        },
        prefix_rule: {
          type: 'array',
          items: { type: 'string' },
          description:
            'With `require_escalated`: a command prefix worth allowing from now on, such as ["git", "pull"].',
        },
      },
      required: ['cmd'],
      additionalProperties: false,
    },
  },
};

export const writeStdinSpec: ToolSpec = {
  name: 'write_stdin',
  description: 'Types into a running session and returns what it printed since the last look.',
  kind: {
    type: 'function',
    parameters: {
      type: 'object',
      properties: {
        session_id: { type: 'number', description: 'The session ID that exec_command returned.' },
        chars: {
          type: 'string',
          description: 'What to type; empty only looks. U+0003 interrupts a session without a terminal too.',
        },
        yield_time_ms: {
          type: 'number',
          description: 'How long to wait for output: 250 to 30000 ms after typing, at least 5000 ms when only looking.',
        },
        max_output_tokens: OUTPUT_BUDGET,
      },
      required: ['session_id'],
      additionalProperties: false,
    },
  },
};

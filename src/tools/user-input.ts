/** `request_user_input`: the model asks the person one to three short questions and waits. */
import { ArgumentError, type Tool } from '../orchestrator/index.js';
import type { UserQuestion } from '../protocol/index.js';
import { parseJsonArgs } from './json-args.js';

/** Puts questions to the person. Undefined answers: the question was dropped. */
export interface QuestionAsker {
  ask(
    callId: string,
    questions: readonly UserQuestion[],
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, readonly string[]>> | undefined>;
}

/** Without an asker nobody is there, and the model is told so. */
export function createUserInputTool(asker: QuestionAsker | undefined): Tool<readonly UserQuestion[]> {
  return {
    spec: {
      name: 'request_user_input',
      description: 'Asks the user one to three short multiple-choice questions and waits for the answers.',
      kind: { type: 'function', parameters: PARAMETERS },
    },
    accepts: ['function'],
    gateGroup: null,
    escalation: { escalateOnFailure: false },
    parse: (payload) => parseQuestions(parseJsonArgs(payload)['questions']),
    view: () => ({ type: 'other', tool: 'request_user_input' }),
    async run(questions, _attempt, context, signal) {
      if (!asker)
        return {
          kind: 'failed',
          text: 'request_user_input is unavailable in Default mode: nobody is attached who could answer',
        };
      const answers = await asker.ask(context.callId, questions, signal);
      if (!answers) return { kind: 'failed', text: 'request_user_input was cancelled before an answer came' };
      const replies = Object.fromEntries(Object.entries(answers).map(([id, given]) => [id, { answers: given }]));
      return { kind: 'ok', text: JSON.stringify({ answers: replies }) };
    },
  };
}

const PARAMETERS = {
  type: 'object',
  properties: {
    questions: {
      type: 'array',
      description: 'One to three questions; prefer one.',
      items: {
        type: 'object',
        properties: {
          id: { type: 'string', description: 'Stable name of the question (snake_case).' },
          header: { type: 'string', description: 'Label of at most 12 characters.' },
          question: { type: 'string', description: 'One sentence.' },
          options: {
            type: 'array',
            description: 'Two or three choices that exclude each other, the recommended one first.',
            items: {
              type: 'object',
              properties: {
                label: { type: 'string', description: 'One to five words.' },
                description: { type: 'string', description: 'One sentence on what choosing it means.' },
              },
              required: ['label', 'description'],
              additionalProperties: false,
            },
          },
        },
        required: ['id', 'header', 'question', 'options'],
        additionalProperties: false,
      },
    },
  },
  required: ['questions'],
  additionalProperties: false,
} as const;

function parseQuestions(value: unknown): readonly UserQuestion[] {
  if (!Array.isArray(value) || value.length < 1 || value.length > 3)
    throw new ArgumentError('failed to parse function arguments: `questions` must be a list of one to three questions');
  return value.map((entry: unknown, index) => {
    const q = typeof entry === 'object' && entry !== null ? (entry as Record<string, unknown>) : {};
    for (const field of ['id', 'header', 'question'])
      if (typeof q[field] !== 'string')
        throw new ArgumentError(`failed to parse function arguments: questions[${index}] has no \`${field}\``);
    const options = Array.isArray(q['options']) ? q['options'] : [];
    return {
      id: String(q['id']),
      header: String(q['header']),
      question: String(q['question']),
      options: options.map(parseOption),
    };
  });
}

function parseOption(entry: unknown): { label: string; description: string } {
  const option = typeof entry === 'object' && entry !== null ? (entry as Record<string, unknown>) : {};
  return { label: String(option['label'] ?? ''), description: String(option['description'] ?? '') };
}

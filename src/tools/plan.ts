/** `update_plan`: the model's list of steps, for people to follow. It changes nothing else. */
import { ArgumentError, type Tool } from '../orchestrator/index.js';
import type { PlanStep } from '../protocol/index.js';
import { parseJsonArgs } from './json-args.js';

interface PlanArgs {
  readonly explanation?: string;
  readonly steps: readonly PlanStep[];
}

const STATUSES = ['pending', 'in_progress', 'completed'] as const;

export const planTool: Tool<PlanArgs> = {
  spec: {
    name: 'update_plan',
    description:
      'Records the plan for a task that takes several steps, and how far it is. Keep at most one step in progress.',
    kind: {
      type: 'function',
      parameters: {
        type: 'object',
        properties: {
          explanation: { type: 'string', description: 'Why the plan changed; optional.' },
          plan: {
            type: 'array',
            description: 'All steps in order.',
            items: {
              type: 'object',
              properties: {
                step: { type: 'string', description: 'A short sentence.' },
                status: { type: 'string', enum: [...STATUSES] },
              },
              required: ['step', 'status'],
              additionalProperties: false,
            },
          },
        },
        required: ['plan'],
        additionalProperties: false,
      },
    },
  },
  accepts: ['function'],
  gateGroup: null,
  escalation: { escalateOnFailure: false },
  parse(payload) {
    const args = parseJsonArgs(payload);
    if (!Array.isArray(args['plan']))
      throw new ArgumentError('failed to parse function arguments: missing field `plan`');
    const explanation = typeof args['explanation'] === 'string' ? { explanation: args['explanation'] } : {};
    return { steps: args['plan'].map(parseStep), ...explanation };
  },
  view: (args) => ({ type: 'plan', steps: args.steps }),
  async run(args) {
    const explanation = args.explanation === undefined ? {} : { explanation: args.explanation };
    return { kind: 'ok', text: 'Plan updated', report: { type: 'plan', steps: args.steps, ...explanation } };
  },
};

function parseStep(entry: unknown, index: number): PlanStep {
  const step = typeof entry === 'object' && entry !== null ? (entry as Record<string, unknown>) : {};
  const status = STATUSES.find((known) => known === step['status']);
  if (typeof step['step'] !== 'string')
    throw new ArgumentError(`failed to parse function arguments: plan[${index}] has no \`step\` text`);
  if (!status)
    throw new ArgumentError(
      `failed to parse function arguments: plan[${index}].status must be one of ${STATUSES.join(', ')}`,
    );
  return { step: step['step'], status };
}

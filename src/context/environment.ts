/** The `<environment_context>` block: where and when the turn runs. */
import type { SandboxPolicy, TurnSettings } from '../protocol/index.js';

export interface EnvironmentFacts {
  readonly shell: string;
  /** `YYYY-MM-DD` in the user's time zone. */
  readonly date: string;
  readonly timezone: string;
}

export function environmentText(settings: Pick<TurnSettings, 'cwd' | 'sandbox'>, facts: EnvironmentFacts): string {
  const lines = [
    `<cwd>${settings.cwd}</cwd>`,
    `<shell>${facts.shell}</shell>`,
    `<current_date>${facts.date}</current_date>`,
    `<timezone>${facts.timezone}</timezone>`,
    `<sandbox_mode>${settings.sandbox.mode}</sandbox_mode>`,
    ...writableRoots(settings.sandbox),
    `<network_access>${settings.sandbox.network.kind === 'off' ? 'restricted' : 'enabled'}</network_access>`,
  ];
  return `<environment_context>\n${lines.map((line) => `  ${line}`).join('\n')}\n</environment_context>`;
}

function writableRoots(sandbox: SandboxPolicy): readonly string[] {
  if (sandbox.mode !== 'workspace-write') return [];
  return [`<writable_roots>${sandbox.writableRoots.map((root) => `<root>${root}</root>`).join('')}</writable_roots>`];
}

/** Date and zone of a moment, as the user's machine writes them. */
export function dateFacts(nowMs: number): { date: string; timezone: string } {
  const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const now = new Date(nowMs);
  const pad = (n: number) => String(n).padStart(2, '0');
  return { date: `${now.getFullYear()}-${pad(now.getMonth() + 1)}-${pad(now.getDate())}`, timezone };
}

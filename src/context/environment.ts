/** The `<environment_context>` block: where and when the turn runs. */
import { readlinkSync } from 'node:fs';
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
  const now = new Date(nowMs);
  const pad = (n: number) => String(n).padStart(2, '0');
  return { date: `${now.getFullYear()}-${pad(now.getMonth() + 1)}-${pad(now.getDate())}`, timezone: timezone() };
}

/** `Intl` knows it too, but loads for longer than the whole first request takes. */
function timezone(): string {
  const name = process.env['TZ'] === undefined ? linkedZone() : undefined;
  if (name === undefined) return Intl.DateTimeFormat().resolvedOptions().timeZone;
  return name === 'Etc/UTC' ? 'UTC' : name;
}

/** The zone that `/etc/localtime` links to, where a system keeps it so. */
function linkedZone(): string | undefined {
  try {
    return /\/zoneinfo\/(\w+\/[\w/+-]+)$/.exec(readlinkSync('/etc/localtime'))?.[1];
  } catch {
    return undefined;
  }
}

/** Turn settings for tests: no sandbox, nobody asked, no limits. */
import type { SandboxMode, TurnSettings } from '../protocol/index.js';

export function testSettings(cwd: string, change: Partial<TurnSettings> & { mode?: SandboxMode } = {}): TurnSettings {
  const { mode = 'danger-full-access', ...rest } = change;
  return {
    model: 'scripted',
    provider: 'scripted',
    cwd,
    approvalPolicy: 'never',
    sandbox: {
      mode,
      writableRoots: [cwd],
      excludeSlashTmp: false,
      excludeTmpdirEnvVar: false,
      readOnly: [],
      denyRead: [],
      git: 'read-only',
      network: { kind: mode === 'danger-full-access' ? 'full' : 'off' },
      unixSockets: 'deny',
      landlockFallback: false,
    },
    steerDelivery: 'next_step',
    budget: {},
    policyFingerprint: 'test',
    ...rest,
  };
}

import type { NetworkPolicy } from '../protocol/index.js';

/** Environment that tells scripts where they run. */
export function sandboxEnvironment(tier: string, network: NetworkPolicy): Record<string, string> {
  return {
    TURNWRIGHT_SANDBOX: tier,
    ...(network.kind === 'off' ? { CODEX_SANDBOX_NETWORK_DISABLED: '1' } : {}),
  };
}

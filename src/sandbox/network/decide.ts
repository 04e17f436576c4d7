/** May a command reach this host? Deny beats allow; what neither names is asked or refused. Pure. */
import type { NetworkPolicy } from '../../protocol/index.js';
import type { Host } from './host.js';

export type ProxiedPolicy = Extract<NetworkPolicy, { kind: 'proxied' }>;

export type RefusalReason = 'not-listed' | 'denylist' | 'local-address' | 'bad-host' | 'method' | 'dns' | 'unreachable';

export type HostVerdict =
  | { readonly kind: 'allow'; readonly rule: string }
  | { readonly kind: 'refuse'; readonly reason: RefusalReason; readonly rule?: string }
  | { readonly kind: 'unlisted' };

export function decideHost(policy: ProxiedPolicy, host: Host, port: number): HostVerdict {
  const denied = policy.deny.find((pattern) => matches(pattern, host, port));
  if (denied !== undefined) return { kind: 'refuse', reason: 'denylist', rule: denied };
  const allowed = policy.allow.find((pattern) => matches(pattern, host, port));
  if (allowed === undefined) return { kind: 'unlisted' };
  return { kind: 'allow', rule: allowed };
}

/** True when the rule names this very host, so that a local address is meant. */
export function namesExactly(rule: string, host: Host): boolean {
  return splitPort(rule).pattern === host.host;
}

/** `a.com` exact, `*.a.com` subdomains, `**.a.com` those and the apex, `*` any name; each may end in `:port`. */
function matches(rule: string, host: Host, port: number): boolean {
  const { pattern, port: wanted } = splitPort(rule);
  if (wanted !== undefined && wanted !== port) return false;
  if (pattern === host.host || pattern === '*') return true;
  if (host.kind !== 'name') return false;
  if (pattern.startsWith('**.')) return host.host === pattern.slice(3) || host.host.endsWith(pattern.slice(2));
  return pattern.startsWith('*.') && host.host.endsWith(pattern.slice(1));
}

function splitPort(rule: string): { pattern: string; port?: number } {
  const lower = rule.toLowerCase();
  const v6 = /^\[([^\]]+)\](?::(\d+))?$/.exec(lower);
  if (v6 !== null) return { pattern: v6[1]!, ...(v6[2] === undefined ? {} : { port: Number(v6[2]) }) };
  const plain = /^([^:]+):(\d+)$/.exec(lower);
  if (plain !== null) return { pattern: trimDot(plain[1]!), port: Number(plain[2]) };
  return { pattern: trimDot(lower) };
}

function trimDot(name: string): string {
  return name.replace(/\.$/, '');
}

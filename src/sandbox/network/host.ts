/**
 * One spelling per host. What is decided and what is dialled must be the same string, so every other spelling of an
 * address, and every character a later parser could read differently, is refused. Pure.
 */
import { isIP, isIPv4, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';

export type Host = { readonly kind: 'name' | 'ipv4' | 'ipv6'; readonly host: string };

const MAX_LENGTH = 255;
const NAME = /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;

/** Undefined for anything that is not plainly a host name, a dotted quad or an IPv6 literal (with or without brackets). */
export function canonicalHost(written: string): Host | undefined {
  if (written.length === 0 || written.length > MAX_LENGTH) return undefined;
  if (/[\u0000-\u0020\u007f@/\\?#%]/.test(written)) return undefined;
  const bracketed = /^\[(.*)\]$/.exec(written)?.[1];
  const literal = bracketed ?? written;
  if (isIPv6(literal)) return { kind: 'ipv6', host: canonicalIPv6(literal) };
  if (bracketed !== undefined) return undefined;
  if (isIPv4(literal)) return { kind: 'ipv4', host: literal };
  const ascii = domainToASCII(written.toLowerCase()).replace(/\.$/, '');
  if (!NAME.test(ascii)) return undefined;
  // `127.1`, `0x7f.1`, `2130706433`: getaddrinfo reads them as addresses. domainToASCII may have turned one into a quad.
  if (isIP(ascii) !== 0 || looksNumeric(ascii)) return undefined;
  return { kind: 'name', host: ascii };
}

/** `host:port` and nothing else. */
export function parseAuthority(written: string): { readonly host: string; readonly port: number } | undefined {
  const match = /^(\[[^\]]*\]|[^:]*):(\d{1,5})$/.exec(written);
  const port = Number(match?.[2]);
  return match === null || port < 1 || port > 65535 ? undefined : { host: match[1]!, port };
}

function looksNumeric(name: string): boolean {
  const last = name.split('.').at(-1)!;
  return /^(?:0x[0-9a-f]*|\d+)$/.test(last);
}

/** The shortest form, as a URL parser writes it. */
function canonicalIPv6(literal: string): string {
  return new URL(`http://[${literal}]/`).hostname.slice(1, -1);
}

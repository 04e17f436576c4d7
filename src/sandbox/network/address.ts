/** Which addresses are nobody's business but the host's: loopback, private, link-local, metadata, and the like. */
import { BlockList, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';

const RANGES_V4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  // Metadata services outside the ranges above (Azure's wire server, Alibaba's lies in 100.64/10).
  ['168.63.129.16', 32],
] as const;

/** Mapped, compatible, NAT64 and 6to4 forms carry an IPv4 address inside; they are all refused as literals of a name. */
const RANGES_V6 = [
  ['::', 96],
  ['::ffff:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2002::', 16],
  ['2001::', 32],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
  ['2001:db8::', 32],
] as const;

// Two lists: in one, Node takes every IPv4 address for a member of the mapped IPv6 range.
const nonPublicV4 = new BlockList();
for (const [net, bits] of RANGES_V4) nonPublicV4.addSubnet(net, bits, 'ipv4');
const nonPublicV6 = new BlockList();
for (const [net, bits] of RANGES_V6) nonPublicV6.addSubnet(net, bits, 'ipv6');

/** True when any program on the internet could be there: not a special range and not an address of this machine. */
export function isPublicAddress(address: string, own: readonly string[] = ownAddresses()): boolean {
  const special = isIPv6(address) ? nonPublicV6.check(address, 'ipv6') : nonPublicV4.check(address, 'ipv4');
  return !special && !own.includes(address);
}

export function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
}

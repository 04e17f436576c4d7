import { describe, expect, it } from 'vitest';
import { isPublicAddress } from './address.js';
import { decideHost, type ProxiedPolicy } from './decide.js';
import { canonicalHost, parseAuthority } from './host.js';

describe('canonicalHost', () => {
  it.each([
    ['Example.COM', 'example.com'],
    ['example.com.', 'example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['127.0.0.1', '127.0.0.1'],
    ['[::1]', '::1'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['[::ffff:127.0.0.1]', '::ffff:7f00:1'],
    ['my_host', 'my_host'],
  ])('%s is %s', (written, host) => {
    expect(canonicalHost(written)?.host).toBe(host);
  });

  it.each([
    '',
    'a b',
    'a\0.com',
    'a@b.com',
    'a.com/x',
    'a.com\\x',
    'a.com#x',
    'a.com?x',
    'a%2ecom',
    'a..com',
    '.com',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '017700000001',
    '1.2.3.4.5',
    'fe80::1%eth0',
    '[example.com]',
    'a'.repeat(256),
    '１２７.0.0.1',
  ])('%j is refused', (written) => {
    expect(canonicalHost(written)).toBeUndefined();
  });
});

describe('parseAuthority', () => {
  it.each([
    ['a.com:443', { host: 'a.com', port: 443 }],
    ['[::1]:80', { host: '[::1]', port: 80 }],
    ['a.com', undefined],
    ['a.com:0', undefined],
    ['a.com:65536', undefined],
    ['a.com:80/x', undefined],
    ['a.com:80 ', undefined],
    ['::1:80', undefined],
  ])('%s', (written, expected) => {
    expect(parseAuthority(written)).toEqual(expected);
  });
});

describe('decideHost', () => {
  const policy: ProxiedPolicy = {
    kind: 'proxied',
    mode: 'full',
    allow: ['exact.com', '*.sub.com', '**.both.com', 'port.com:8443', '10.0.0.5', '[::1]:80'],
    deny: ['bad.sub.com', '*.deny.both.com'],
  };
  it.each([
    ['exact.com', 443, 'allow'],
    ['www.exact.com', 443, 'unlisted'],
    ['a.sub.com', 443, 'allow'],
    ['sub.com', 443, 'unlisted'],
    ['evilsub.com', 443, 'unlisted'],
    ['bad.sub.com', 443, 'refuse'],
    ['both.com', 443, 'allow'],
    ['x.y.both.com', 443, 'allow'],
    ['x.deny.both.com', 443, 'refuse'],
    ['port.com', 8443, 'allow'],
    ['port.com', 443, 'unlisted'],
    ['10.0.0.5', 80, 'allow'],
    ['10.0.0.6', 80, 'unlisted'],
    ['::1', 80, 'allow'],
    ['::1', 81, 'unlisted'],
  ])('%s:%i is %s', (written, port, expected) => {
    expect(decideHost(policy, canonicalHost(written)!, port).kind).toBe(expected);
  });

  it('reads * as any name', () => {
    expect(decideHost({ ...policy, allow: ['*'] }, canonicalHost('any.org')!, 1).kind).toBe('allow');
  });
});

describe('isPublicAddress', () => {
  it.each(['8.8.8.8', '1.1.1.1', '2606:4700::1111', '172.32.0.1', '100.128.0.1'])('%s is public', (address) => {
    expect(isPublicAddress(address, [])).toBe(true);
  });

  it.each([
    ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '169.254.169.254', '172.16.0.1', '192.168.1.1', '224.0.0.1'],
    ...['255.255.255.255', '168.63.129.16', '::', '::1', '::ffff:8.8.8.8', '64:ff9b::a00:1', 'fd00::1', 'fe80::1'],
    ...['ff02::1', '2001:db8::1', '2002:7f00:1::'],
  ])('%s is not', (address) => {
    expect(isPublicAddress(address, [])).toBe(false);
  });

  it('is not public when it is our own', () => {
    expect(isPublicAddress('8.8.8.8', ['8.8.8.8'])).toBe(false);
  });
});

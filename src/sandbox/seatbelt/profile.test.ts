import { describe, expect, it } from 'vitest';
import { seatbeltArgv, seatbeltProfile } from './profile.js';

const entries = [
  { path: '/Users/a/w', access: 'write' },
  { path: '/Users/a/w/.codex', access: 'read', placeholder: 'dir' },
  { path: '/Users/a/w/.git', access: 'read' },
  { path: '/Users/a/w/sub', access: 'write' },
  { path: '/Users/a/w/sub/.git', access: 'read' },
  { path: '/Users/a/secret', access: 'deny', shape: 'dir' },
] as const;

/** Everything after the fixed base. */
function tail(text: string): string {
  return text.slice(text.indexOf('(literal "/dev/zero")')).split('\n').slice(1).join('\n');
}

describe('a macOS profile', () => {
  it('is what it was for a workspace with protected paths and no network', () => {
    const profile = seatbeltProfile({ entries, network: 'off', unixSockets: false });
    expect(tail(profile.text)).toBe(`(allow file-write* (require-all
  (subpath (param "W_0"))
  (require-not (literal (param "W_0_X_0")))
  (require-not (subpath (param "W_0_X_0")))
  (require-not (literal (param "W_0_X_1")))
  (require-not (subpath (param "W_0_X_1")))
  (require-not (literal (param "W_0_X_2")))
  (require-not (subpath (param "W_0_X_2")))
))
(allow file-write* (require-all
  (subpath (param "W_1"))
  (require-not (literal (param "W_1_X_0")))
  (require-not (subpath (param "W_1_X_0")))
))
(deny file-write-unlink (literal (param "P_0")))
(deny file-write-unlink (literal (param "P_1")))
(deny file-read* file-write* (subpath (param "D_0")))
`);
    expect(Object.fromEntries(profile.params)).toEqual({
      W_0: '/Users/a/w',
      W_0_X_0: '/Users/a/w/.codex',
      W_0_X_1: '/Users/a/w/.git',
      W_0_X_2: '/Users/a/w/sub/.git',
      W_1: '/Users/a/w/sub',
      W_1_X_0: '/Users/a/w/sub/.git',
      P_0: '/Users/a/w',
      P_1: '/Users/a/w/sub',
      D_0: '/Users/a/secret',
    });
  });

  it('denies by default and names no path of the policy in its text', () => {
    const { text } = seatbeltProfile({ entries, network: 'off', unixSockets: false });
    expect(text.startsWith('(version 1)\n(deny default)\n')).toBe(true);
    expect(text).not.toContain('/Users');
    expect(text).not.toContain('network');
  });

  it('reaches only the proxy when hosts are listed, everything with the full network', () => {
    const proxied = seatbeltProfile({ entries: [], network: { proxyPort: 4444 }, unixSockets: false });
    expect(tail(proxied.text)).toBe('(allow network-outbound (remote ip "localhost:4444"))\n');
    expect(seatbeltProfile({ entries: [], network: 'full', unixSockets: true }).text).toContain('(remote ip)');
  });

  it('becomes an argument list with parameters, by the absolute path of sandbox-exec', () => {
    const profile = seatbeltProfile({ entries: entries.slice(0, 1), network: 'off', unixSockets: false });
    expect(seatbeltArgv(profile, ['ls', '-l'])).toEqual([
      '/usr/bin/sandbox-exec',
      '-p',
      profile.text,
      '-D',
      'W_0=/Users/a/w',
      '-D',
      'P_0=/Users/a/w',
      '--',
      'ls',
      '-l',
    ]);
  });
});

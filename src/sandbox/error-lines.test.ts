import { describe, expect, it } from 'vitest';
import { type ErrorLine, errorLines } from './error-lines.js';

/** output, errno (or none), path or host */
const ROWS: readonly [string, ErrorLine['errno'] | 'none', string?][] = [
  ["touch: cannot touch '/etc/x': Read-only file system", 'EROFS', '/etc/x'],
  ['/bin/sh: 1: cannot create /etc/foo: Read-only file system', 'EROFS', '/etc/foo'],
  ['bash: line 1: /etc/x y: Read-only file system', 'EROFS', '/etc/x'],
  ['mkdir: cannot create directory ‘d’: Permission denied', 'EACCES', 'd'],
  ["fatal: Unable to create '/w/.git/index.lock': Read-only file system", 'EROFS', '/w/.git/index.lock'],
  ["OSError: [Errno 30] Read-only file system: '/x/y'", 'EROFS', '/x/y'],
  ["PermissionError: [Errno 13] Permission denied: '/x'", 'EACCES', '/x'],
  ["Error: EROFS: read-only file system, open '/x/y'", 'EROFS', '/x/y'],
  ["  [Error: EACCES: permission denied, mkdir '/x']", 'EACCES', '/x'],
  ['error: could not write: Read-only file system (os error 30)', 'EROFS'],
  ['open /x/y: read-only file system', 'EROFS', '/x/y'],
  ['cp: cannot create regular file "/o/a b": Operation not permitted', 'EPERM', '/o/a b'],
  ["\u001b[31mrm: cannot remove 'a': Read-only file system\u001b[0m", 'EROFS', 'a'],
  ['curl: (6) Could not resolve host: example.com', 'NETWORK', 'example.com'],
  ['npm ERR! getaddrinfo ENOTFOUND registry.npmjs.org', 'NETWORK', 'registry.npmjs.org'],
  ['dial udp: lookup proxy.golang.org: Temporary failure in name resolution', 'NETWORK', 'proxy.golang.org'],
  ['connect: Network is unreachable', 'NETWORK'],
  ['connect to 127.0.0.1 port 80: Connection refused', 'none'],
  ['we saw "permission denied" in the log yesterday', 'none'],
  ['src/a.c:12: cannot open x: Permission denied', 'none'],
  ['+ touch: cannot touch x: Read-only file system', 'none'],
  ['2026-01-01 12:00 open /x: permission denied', 'none'],
  ['{"error": "open /x: permission denied"}', 'none'],
  ['sandbox', 'none'],
];

describe('errorLines', () => {
  it.each(ROWS)('%j', (output, errno, named) => {
    const found = errorLines(output);
    if (errno === 'none') expect(found).toEqual([]);
    else {
      expect(found).toHaveLength(1);
      expect(found[0]).toMatchObject({ errno });
      expect(found[0]!.path ?? found[0]!.host).toBe(named);
    }
  });
});

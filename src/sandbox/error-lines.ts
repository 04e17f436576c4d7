/** Finds the lines of an output that are error messages about a refused operation, and what they name. Pure. */

export type RefusalErrno = 'EROFS' | 'EACCES' | 'EPERM' | 'NETWORK';

export interface ErrorLine {
  readonly text: string;
  readonly errno: RefusalErrno;
  /** The file or directory named, as written. */
  readonly path?: string;
  readonly host?: string;
  /** It speaks of sockets or of a service behind one. */
  readonly aboutSockets: boolean;
}

export function errorLines(output: string): ErrorLine[] {
  return plainText(output)
    .split(/\r?\n|\r/)
    .flatMap((line) => readLine(line.trimEnd()) ?? []);
}

const ERRNO_TEXTS: readonly (readonly [RefusalErrno, string])[] = [
  ['EROFS', 'read-only file ?system'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'operation not permitted'],
];

/** `prog: what: <errno text>` — the message ends with the errno text, as perror, coreutils, shells, Go and Rust print it. */
const ENDING = ERRNO_TEXTS.map(
  ([errno, text]) =>
    [errno, new RegExp(`^(.*?[:(])\\s*${text}(?: \\(os error \\d+\\)| \\(\\d+\\))?[.!)'"]*$`, 'i')] as const,
);
/** Node: `EROFS: read-only file system, open '/x'`. */
const NODE = /\b(EROFS|EACCES|EPERM): [a-z -]+, (\w+)(?: '([^']*)')?/;
/** Python: `[Errno 30] Read-only file system: '/x'`. */
const PYTHON = /\[Errno (30|13|1)\] [A-Z][\w -]+(?:: '([^']*)')?(?: -> '([^']*)')?$/;
const PYTHON_ERRNO: Readonly<Record<string, RefusalErrno>> = { '30': 'EROFS', '13': 'EACCES', '1': 'EPERM' };
const NETWORK =
  /(?:could not resolve host|temporary failure in name resolution|name or service not known|getaddrinfo (?:ENOTFOUND|EAI_AGAIN)|\bENETUNREACH\b|network is unreachable|no address associated with hostname|nodename nor servname)/i;
const HOST =
  /(?:could not resolve host(?:name)?:? ["']?|getaddrinfo (?:ENOTFOUND|EAI_AGAIN) |resolve host address ["'‘]?|lookup )([\w.-]+)/i;
const SOCKETS = /\b(?:connect|socket|docker daemon|dbus|d-bus|ssh-agent|agent|\.sock)\b/i;
/** A quoted message is not a message: diffs, grep hits with line numbers, JSON, log lines with a time stamp. */
const QUOTED = /^\s*(?:[+>|"'{[]|-(?!\w)|\d{4}-\d\d-\d\d|[\w./-]+:\d+:\d*:?)/;

function readLine(text: string): ErrorLine | undefined {
  if (text === '' || text.length > 2000) return undefined;
  const python = PYTHON.exec(text);
  if (python !== null) return found(text, PYTHON_ERRNO[python[1]!]!, python[3] ?? python[2]);
  const node = NODE.exec(text);
  if (node !== null && !/^\s*[+>|"{]/.test(text)) return found(text, node[1] as RefusalErrno, node[3]);
  if (QUOTED.test(text)) return undefined;
  for (const [errno, pattern] of ENDING) {
    const before = pattern.exec(text)?.[1];
    if (before !== undefined) return found(text, errno, namedPath(before.slice(0, -1)));
  }
  if (!NETWORK.test(text)) return undefined;
  const host = HOST.exec(text)?.[1];
  return { text, errno: 'NETWORK', aboutSockets: false, ...(host === undefined ? {} : { host }) };
}

function found(text: string, errno: RefusalErrno, path: string | undefined): ErrorLine {
  return { text, errno, aboutSockets: SOCKETS.test(text), ...(path === undefined || path === '' ? {} : { path }) };
}

const CANNOT =
  /(?:cannot|can't|could ?n[o']t|unable to|failed to) (?:create|open|touch|remove|stat|access|write to|make|overwrite|write)(?: regular file| directory| symbolic link| file| temporary file| output file)? +/i;
const CALL = /^(?:open|mkdir|unlink|rename|creat|write|rm|chmod|chown|link|symlink|remove) +/i;

/** The path in the part before the errno text: quoted, after a verb, or the last `:`-separated piece that looks like one. */
function namedPath(before: string): string | undefined {
  const quoted = [...before.matchAll(/['"`‘“]([^'"`‘’“”]+)['"`’”]/g)].at(-1)?.[1];
  if (quoted !== undefined) return quoted;
  const pieces = before.split(/:\s+/);
  const last = pieces.at(-1)!.trim();
  const cannot = CANNOT.exec(last);
  const named = cannot === null ? last.replace(CALL, '') : last.slice(cannot.index + cannot[0].length);
  const words = named.split(/\s+/);
  const path = words.find((word) => word.includes('/'));
  if (path !== undefined || words.length > 1) return path;
  // A bare word is a file for shells and coreutils (`prog: name: …`, `cannot create name`), a noun for others.
  const spoken = cannot !== null && /\bwrite /i.test(cannot[0]);
  return (pieces.length > 1 && !spoken) || /[.]/.test(named) ? named : undefined;
}

function plainText(output: string): string {
  return output.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g, '');
}

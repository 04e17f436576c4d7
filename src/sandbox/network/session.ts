/**
 * A network namespace that lives as long as the session and leads only to our proxy. An anchor process holds it: a
 * Node helper that listens inside on 127.0.0.1:3128 and sends the listening handle out, so that this process accepts
 * connections from inside without any bridge. Commands join with `nsenter`.
 *
 * The anchor must not use `--dev`: bubblewrap would put it into a second user namespace, which does not own the network
 * namespace, and joining would fail for ordinary users.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { TurnwrightError } from '../../protocol/index.js';
import type { ProxiedPolicy } from './decide.js';
import { type AuditRecord, type NetworkAsker, type NetworkCommand, NetworkGate } from './gate.js';
import { createProxy } from './proxy.js';

export interface NetworkSession {
  /** Put before the bubblewrap command line. */
  readonly join: readonly string[];
  /** Where the proxy listens, as commands see it. */
  readonly port: number;
  /** False once the anchor is gone: commands in it have no way out any more. */
  readonly alive: boolean;
  /** Registers one command. `text` is its command line, for questions and the audit. */
  admit(text: string): NetworkTicket;
  close(): Promise<void>;
}

export interface NetworkTicket {
  readonly env: Readonly<Record<string, string>>;
  /** Hosts refused to this command, oldest first, each once. */
  refusedHosts(): readonly string[];
  release(): void;
}

export interface NetworkSessionOptions {
  readonly policy: ProxiedPolicy;
  readonly asker?: NetworkAsker;
  readonly audit: (record: AuditRecord) => void;
}

const PORT = 3128;
const START_LIMIT_MS = 20_000;
const HELPER = `
const server = require('node:net').createServer();
process.on('disconnect', () => process.exit(0));
server.listen(${PORT}, '127.0.0.1', () => process.send({ pid: process.pid }, server, () => server.close()));
`;

interface Registered {
  readonly command: NetworkCommand;
  readonly token: string;
  readonly refused: Set<string>;
}

interface AnchorPrograms {
  readonly bwrapPath: string;
  readonly nsenterPath: string;
}

/** @throws TurnwrightError `TW_SANDBOX_UNAVAILABLE` when the namespace cannot be made or joined. */
export async function openNetworkSession(options: NetworkSessionOptions & AnchorPrograms): Promise<NetworkSession> {
  const guard = createGuard(options);
  const anchor = await startAnchor(options, guard.serve);
  return {
    join: joinArgv(options.nsenterPath, anchor.pid),
    port: PORT,
    get alive() {
      return anchor.child.exitCode === null && anchor.child.signalCode === null;
    },
    admit: (text) => guard.admit(text, PORT),
    async close() {
      guard.close();
      anchor.server.close();
      await stop(anchor.child);
    },
  };
}

/** Without namespaces (macOS): the proxy listens on a port of the host, the only one the profile lets through. */
export async function openLocalSession(options: NetworkSessionOptions): Promise<NetworkSession> {
  const guard = createGuard(options);
  const server = createServer((socket) => guard.serve(socket));
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  server.unref();
  const { port } = server.address() as AddressInfo;
  return {
    join: [],
    port,
    alive: true,
    admit: (text) => guard.admit(text, port),
    async close() {
      guard.close();
      server.close();
    },
  };
}

interface Guard {
  serve(socket: Socket): void;
  admit(text: string, port: number): NetworkTicket;
  close(): void;
}

function createGuard(options: NetworkSessionOptions): Guard {
  const commands = new Map<string, Registered>();
  const gate = new NetworkGate({
    policy: options.policy,
    ...(options.asker === undefined ? {} : { asker: options.asker }),
    audit: options.audit,
    onRefusal: (command, host, port) => {
      if (command !== undefined) commands.get(command.id)?.refused.add(port === 0 ? host : `${host}:${port}`);
    },
  });
  const proxy = createProxy({
    gate,
    limited: options.policy.mode === 'limited',
    identify: (user, password) => {
      const known = commands.get(user);
      return known?.token === password ? known.command : undefined;
    },
  });
  let count = 0;
  return {
    serve: (socket) => proxy.serve(socket),
    admit(text, port) {
      const id = `cmd-${++count}`;
      const token = randomBytes(12).toString('hex');
      const refused = new Set<string>();
      commands.set(id, { command: { id, text }, token, refused });
      const env = proxyEnvironment(id, token, port);
      return { env, refusedHosts: () => [...refused], release: () => void commands.delete(id) };
    },
    close() {
      gate.close();
      proxy.close();
    },
  };
}

interface Anchor {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly server: Server;
}

async function startAnchor(options: AnchorPrograms, serve: (socket: Socket) => void): Promise<Anchor> {
  const child = spawn(
    options.bwrapPath,
    [
      ...['--die-with-parent', '--unshare-user', '--unshare-net', '--dev-bind', '/', '/', '--chdir', '/'],
      ...['--', process.execPath, '-e', HELPER],
    ],
    // Only what the helper needs: it shows in /proc, and loader options must not reach it.
    { cwd: '/', detached: true, env: { PATH: '/usr/bin:/bin' }, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] },
  );
  try {
    const { pid, server } = await listening(child);
    server.on('connection', serve);
    server.unref();
    await requireJoin(options.nsenterPath, pid);
    child.unref();
    child.channel?.unref();
    (child.stderr as Socket | null)?.unref();
    return { child, pid, server };
  } catch (error) {
    await stop(child);
    throw error;
  }
}

function listening(child: ChildProcess): Promise<{ pid: number; server: Server }> {
  return new Promise((resolve, reject) => {
    let stderr = '';
    child.stderr?.on('data', (piece: Buffer) => (stderr = (stderr + piece.toString()).slice(-2048)));
    const limit = setTimeout(() => reject(noProxy('the helper did not start in time')), START_LIMIT_MS);
    child.once('message', (message, handle) => {
      clearTimeout(limit);
      resolve({ pid: (message as { pid: number }).pid, server: handle as Server });
    });
    child.once('error', (error) => reject(noProxy(error.message)));
    child.once('exit', () => {
      clearTimeout(limit);
      reject(noProxy(stderr.trim() || 'the helper ended'));
    });
  });
}

function requireJoin(nsenterPath: string, pid: number): Promise<void> {
  const [file = '', ...args] = joinArgv(nsenterPath, pid);
  return new Promise((resolve, reject) => {
    execFile(file, [...args, '/bin/true'], { cwd: '/' }, (error, _out, stderr) =>
      error === null ? resolve() : reject(noProxy(`joining its namespace failed: ${stderr.trim() || error.message}`)),
    );
  });
}

function joinArgv(nsenterPath: string, pid: number): string[] {
  return [nsenterPath, '-t', String(pid), '-U', '-n', '--preserve-credentials', '--'];
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.ref();
  child.kill('SIGKILL');
  await gone;
  if (child.connected) child.disconnect();
  child.stderr?.destroy();
}

function noProxy(why: string): TurnwrightError {
  return new TurnwrightError(
    'TW_SANDBOX_UNAVAILABLE',
    `network access by allow list is not possible here: ${why}; install util-linux (nsenter) and allow network ` +
      'namespaces, or configure the network as off or full',
  );
}

/** Tools read the proxy from many names; the ones without credentials in their own syntax are still served. */
function proxyEnvironment(id: string, token: string, port: number): Record<string, string> {
  const url = `http://${id}:${token}@127.0.0.1:${port}`;
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'FTP_PROXY'];
  const others = [
    'npm_config_proxy',
    'npm_config_https_proxy',
    'npm_config_http_proxy',
    'YARN_HTTP_PROXY',
    'YARN_HTTPS_PROXY',
    'PIP_PROXY',
    'BUNDLE_HTTP_PROXY',
    'BUNDLE_HTTPS_PROXY',
    'DOCKER_HTTP_PROXY',
    'DOCKER_HTTPS_PROXY',
    'CARGO_HTTP_PROXY',
  ];
  const netcat = ['/usr/bin/nc.openbsd', '/bin/nc.openbsd'].find((path) => existsSync(path));
  return {
    ...Object.fromEntries([...names, ...names.map((name) => name.toLowerCase()), ...others].map((name) => [name, url])),
    NO_PROXY: '',
    no_proxy: '',
    npm_config_noproxy: '',
    NODE_USE_ENV_PROXY: '1',
    ...(netcat === undefined
      ? {}
      : { GIT_SSH_COMMAND: `ssh -o ProxyCommand='${netcat} -X 5 -x 127.0.0.1:${port} %h %p'` }),
  };
}

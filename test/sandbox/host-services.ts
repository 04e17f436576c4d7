/** Services on the host that a sandboxed command must (or must not) reach, each counting its visitors. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createSocket, type Socket as Datagram } from 'node:dgram';
import { chmodSync } from 'node:fs';
import { createServer as createWeb } from 'node:http';
import { type AddressInfo, createServer, type ListenOptions, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join, relative } from 'node:path';

export interface HostServices {
  /** Variables of the recorded cases: ports, socket paths, the pid of a process outside. */
  readonly vars: Readonly<Record<string, string>>;
  readonly victim: ChildProcess;
  hits(service: string): number;
  /** A unix socket server at `path`, however long the path is. */
  listenAt(path: string, service: string): Promise<void>;
  close(): Promise<void>;
}

const DATAGRAM_LISTENER = `import socket,sys,os
s=socket.socket(1,2);s.bind(sys.argv[1]);os.chmod(sys.argv[1],0o777);print("up")
while 1:
 s.recv(99);print("hit")`;

export async function startServices(base: string, tmp: string): Promise<HostServices> {
  const counts: Record<string, number> = {};
  const open: (Server | Datagram)[] = [];
  const hit = (service: string): void => void (counts[service] = (counts[service] ?? 0) + 1);
  const counting = (service: string): Server =>
    createServer((socket) => socket.on('error', () => {}).destroy()).on('connection', () => hit(service));
  const listen = async (server: Server, where: ListenOptions): Promise<number> => {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(where, resolve));
    open.push(server);
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  };
  const listenAt = async (path: string, service: string): Promise<void> => {
    const short = relative(process.cwd(), path);
    await listen(counting(service), { path: short.length < path.length ? short : path });
    chmodSync(path, 0o777);
  };
  const web = createWeb((_request, response) => response.end('hello from host\n')).on('connection', () => hit('tcp'));
  const udp = createSocket('udp4').on('message', () => hit('udp'));
  await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve));
  open.push(udp);
  const sockets = {
    USOCK: join(base, 'host.sock'),
    TMP_USOCK: join(tmp, 'host.sock'),
    DGRAM_USOCK: join(base, 'dgram.sock'),
  };
  await listenAt(sockets.USOCK, 'unix');
  await listenAt(sockets.TMP_USOCK, 'tmpunix');
  const abstract = `sbx-conf-${process.pid}`;
  await listen(counting('abstract'), { path: `\0${abstract}` });
  const victim = spawn('sleep', ['100000'], { env: { VICTIM_TOKEN: 'abc' }, stdio: 'ignore', detached: true });
  const vars = {
    ...sockets,
    TCP_PORT: String(await listen(web, { port: 0, host: '0.0.0.0' })),
    TCP6_PORT: String(await listen(counting('tcp6'), { port: 0, host: '::1' }).catch(() => 1)),
    UDP_PORT: String((udp.address() as AddressInfo).port),
    ABSTRACT: abstract,
    HOST_IP: hostAddress(),
    VICTIM: String(victim.pid),
    OWNER: String(process.getuid?.() ?? 0),
  };
  const datagram = await listenDatagram(sockets.DGRAM_USOCK, () => hit('dgram'));
  return {
    vars,
    victim,
    hits: (service) => counts[service] ?? 0,
    listenAt,
    async close() {
      victim.kill('SIGKILL');
      datagram?.kill('SIGKILL');
      for (const server of open) server.close();
    },
  };
}

async function listenDatagram(path: string, onHit: () => void): Promise<ChildProcess | undefined> {
  if (spawnSync('python3', ['-c', '']).status !== 0) return undefined;
  const child = spawn('python3', ['-u', '-c', DATAGRAM_LISTENER, path], { stdio: ['ignore', 'pipe', 'ignore'] });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  child.stdout.on('data', onHit);
  return child;
}

function hostAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}

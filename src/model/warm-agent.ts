/** Agents that can open a connection before there is a request for it, so that the handshake overlaps other work. */
import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A spare connection older than this is not trusted: servers close idle ones. */
const SPARE_LIFE_MS = 10_000;

type Connected = (error: Error | null, socket: Duplex) => void;

/** The one connection that waits for the first request to its address. */
export class Spare {
  #socket: Socket | undefined;
  #address = '';
  /** Connections that were handed out from here: they may have died while waiting. */
  readonly #used = new WeakSet<Duplex>();

  put(address: string, socket: Socket): void {
    this.#socket?.destroy();
    this.#socket = socket;
    this.#address = address;
    const forget = () => {
      if (this.#socket === socket) this.#socket = undefined;
    };
    socket.unref();
    socket.on('error', forget); // the request that comes will meet the error itself
    socket.on('close', forget);
    setTimeout(() => {
      if (this.#socket === socket) socket.destroy();
    }, SPARE_LIFE_MS).unref();
  }

  take(address: string): Socket | undefined {
    if (this.#socket === undefined || this.#address !== address) return undefined;
    const socket = this.#socket;
    this.#socket = undefined;
    this.#used.add(socket);
    socket.ref();
    return socket;
  }

  cameFromHere(socket: Duplex | null): boolean {
    return socket !== null && this.#used.has(socket);
  }
}

export class WarmHttpAgent extends http.Agent {
  readonly spare = new Spare();

  warm(host: string, port: number): void {
    const socket = super.createConnection({ host, port });
    if (socket) this.spare.put(`${host}:${port}`, socket as Socket); // plain agents make net sockets
  }

  override createConnection(options: http.ClientRequestArgs, connected?: Connected): Duplex | null | undefined {
    return this.spare.take(`${options.host}:${options.port}`) ?? super.createConnection(options, connected);
  }
}

export class WarmHttpsAgent extends https.Agent {
  readonly spare = new Spare();

  warm(host: string, port: number): void {
    const socket = super.createConnection({ host, port, servername: host });
    if (socket) this.spare.put(`${host}:${port}`, socket as Socket); // TLS sockets are net sockets
  }

  override createConnection(options: https.RequestOptions, connected?: Connected): Duplex | null | undefined {
    return this.spare.take(`${options.host}:${options.port}`) ?? super.createConnection(options, connected);
  }
}

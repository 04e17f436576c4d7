/** SOCKS5 (RFC 1928, 1929), CONNECT only. Names are taken as bytes and judged like any other host. */
import type { Socket } from 'node:net';
import type { NetworkCommand } from './gate.js';
import { joinStreams } from './join-streams.js';
import type { ProxyOptions } from './proxy.js';

const NO_AUTH = 0x00;
const USER_PASSWORD = 0x02;
const NO_METHOD = 0xff;
const CONNECT = 0x01;
const GRANTED = 0x00;
const NOT_ALLOWED = 0x02;
const UNREACHABLE = 0x04;
const COMMAND_UNSUPPORTED = 0x07;
const ADDRESS_UNSUPPORTED = 0x08;
const HANDSHAKE_LIMIT_MS = 30_000;

export function serveSocks(socket: Socket, options: ProxyOptions): void {
  handshake(new ByteReader(socket), socket, options).catch(() => socket.destroy());
}

async function handshake(reader: ByteReader, socket: Socket, options: ProxyOptions): Promise<void> {
  socket.setTimeout(HANDSHAKE_LIMIT_MS, () => socket.destroy());
  const [, count = 0] = await reader.take(2);
  const methods = await reader.take(count);
  let command: NetworkCommand | undefined;
  if (methods.includes(USER_PASSWORD)) {
    socket.write(Buffer.of(5, USER_PASSWORD));
    command = await readCredentials(reader, options);
    socket.write(Buffer.of(1, 0));
  } else if (methods.includes(NO_AUTH)) socket.write(Buffer.of(5, NO_AUTH));
  else {
    socket.end(Buffer.of(5, NO_METHOD));
    return;
  }
  const [, verb, , type] = await reader.take(4);
  const host = await readAddress(reader, type);
  if (host === undefined) return answer(socket, ADDRESS_UNSUPPORTED);
  const port = (await reader.take(2)).readUInt16BE(0);
  if (verb !== CONNECT) return answer(socket, COMMAND_UNSUPPORTED);
  socket.setTimeout(0);
  const attempt = { protocol: 'socks', host, port, command } as const;
  const dialled = options.limited ? options.gate.refuseMethod(attempt) : await options.gate.dial(attempt);
  if (!dialled.ok) return answer(socket, dialled.reason === 'unreachable' ? UNREACHABLE : NOT_ALLOWED);
  socket.write(reply(GRANTED));
  reader.release();
  joinStreams(socket, dialled.socket);
}

async function readCredentials(reader: ByteReader, options: ProxyOptions): Promise<NetworkCommand | undefined> {
  const [, userLength = 0] = await reader.take(2);
  const user = (await reader.take(userLength)).toString('latin1');
  const [passwordLength = 0] = await reader.take(1);
  return options.identify(user, (await reader.take(passwordLength)).toString('latin1'));
}

async function readAddress(reader: ByteReader, type: number | undefined): Promise<string | undefined> {
  if (type === 1) return [...(await reader.take(4))].join('.');
  if (type === 3) {
    const [length = 0] = await reader.take(1);
    return (await reader.take(length)).toString('latin1');
  }
  if (type !== 4) return undefined;
  const bytes = await reader.take(16);
  return Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2).toString(16)).join(':');
}

function answer(socket: Socket, code: number): void {
  socket.end(reply(code));
}

function reply(code: number): Buffer {
  return Buffer.of(5, code, 0, 1, 0, 0, 0, 0, 0, 0);
}

/** Reads exact byte counts from a socket. */
class ByteReader {
  readonly #socket: Socket;
  #buffer = Buffer.alloc(0);
  #wake: (() => void) | undefined;
  readonly #onData = (bytes: Buffer): void => {
    this.#buffer = Buffer.concat([this.#buffer, bytes]);
    this.#wake?.();
  };
  readonly #onClose = (): void => this.#wake?.();

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', this.#onData);
    socket.on('close', this.#onClose);
    socket.resume();
  }

  async take(count: number): Promise<Buffer> {
    while (this.#buffer.length < count) {
      if (this.#socket.destroyed || this.#socket.readableEnded) throw new Error('the connection ended early');
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    const taken = this.#buffer.subarray(0, count);
    this.#buffer = this.#buffer.subarray(count);
    return taken;
  }

  /** Stops reading; bytes that came too early go back. */
  release(): void {
    this.#socket.off('data', this.#onData);
    this.#socket.off('close', this.#onClose);
    this.#socket.pause();
    if (this.#buffer.length > 0) this.#socket.unshift(this.#buffer);
  }
}

import { connect, createServer, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AuditRecord, type GateOptions, NetworkGate, type NetworkQuestion } from './gate.js';

let server: Server;
let port: number;
let dialled: string[];
beforeEach(async () => {
  dialled = [];
  server = createServer((socket) => socket.on('error', () => {}).end('hi'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as { port: number }).port;
});
afterEach(() => server.close());

function gate(over: Partial<GateOptions> = {}) {
  const audit: AuditRecord[] = [];
  const refused: string[] = [];
  const opened = new NetworkGate({
    policy: {
      kind: 'proxied',
      allow: ['good.com', 'local.com', 'mixed.com', '127.0.0.1'],
      deny: ['bad.com'],
      mode: 'full',
    },
    audit: (record) => audit.push(record),
    onRefusal: (_command, host) => refused.push(host),
    resolve: async (name) => {
      const table: Record<string, string[]> = {
        'good.com': ['93.184.216.34'],
        'local.com': ['127.0.0.1'],
        'mixed.com': ['10.0.0.1', '93.184.216.34'],
        'asked.com': ['93.184.216.34'],
      };
      return table[name] ?? [];
    },
    // Every address leads to the local server; what was asked for is remembered.
    connect: (address) => {
      dialled.push(address);
      return connect(port, '127.0.0.1');
    },
    ...over,
  });
  const dial = async (host: string) => {
    const result = await opened.dial({ protocol: 'connect', host, port: 443, command: { id: 'c1', text: 'ls' } });
    if (result.ok) result.socket.destroy();
    return result;
  };
  return { opened, audit, refused, dial };
}

describe('the gate', () => {
  it('dials the very address it checked', async () => {
    expect(await gate().dial('GOOD.com.')).toMatchObject({ ok: true, host: 'good.com' });
    expect(dialled).toEqual(['93.184.216.34']);
  });

  it.each([
    ['bad.com', 'denylist'],
    ['other.com', 'not-listed'],
    ['local.com', 'local-address'],
    ['127.1', 'bad-host'],
    ['10.0.0.1', 'not-listed'],
    ['localhost', 'not-listed'],
  ])('refuses %s as %s, once in the audit', async (host, reason) => {
    const { dial, audit, refused } = gate();
    expect(await dial(host)).toMatchObject({ ok: false, reason });
    expect(audit).toMatchObject([{ host, decision: 'refuse', commandId: 'c1', command: 'ls' }]);
    expect(refused).toEqual([host]);
    expect(dialled).toEqual([]);
  });

  it('drops the local addresses of a name and uses the rest', async () => {
    expect(await gate().dial('mixed.com')).toMatchObject({ ok: true });
    expect(dialled).toEqual(['93.184.216.34']);
  });

  it('reaches a local address that is listed itself', async () => {
    expect(await gate().dial('127.0.0.1')).toMatchObject({ ok: true });
  });

  it('does not take a wildcard for a local address', async () => {
    const policy = { kind: 'proxied', allow: ['*'], deny: [], mode: 'full' } as const;
    expect(await gate({ policy }).dial('127.0.0.1')).toMatchObject({ ok: false, reason: 'local-address' });
  });

  it('asks once for all who wait, and remembers an answer for the session', async () => {
    const questions: NetworkQuestion[] = [];
    const { dial } = gate({
      asker: async (question) => {
        questions.push(question);
        return 'session';
      },
    });
    expect(await Promise.all([dial('asked.com'), dial('asked.com')])).toMatchObject([{ ok: true }, { ok: true }]);
    expect(await dial('asked.com')).toMatchObject({ ok: true });
    expect(questions).toEqual([
      { host: 'asked.com', port: 443, protocol: 'connect', command: { id: 'c1', text: 'ls' } },
    ]);
  });

  it('never asks about a denied host, and takes a failing asker for a no', async () => {
    const asker = () => Promise.reject(new Error('gone'));
    expect(await gate({ asker }).dial('bad.com')).toMatchObject({ reason: 'denylist' });
    expect(await gate({ asker }).dial('asked.com')).toMatchObject({ reason: 'not-listed' });
  });

  it('lets nobody wait for an answer after it was closed', async () => {
    const { opened, dial } = gate({ asker: () => new Promise(() => {}) });
    const waiting = dial('asked.com');
    opened.close();
    expect(await waiting).toMatchObject({ ok: false, reason: 'not-listed' });
  });
});

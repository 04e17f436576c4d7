/** The allow list is enforced by the kernel, not by the good will of the command. */

import { mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type AuditRecord, type Box, createSandbox, type NetworkQuestion } from '../../src/sandbox/index.js';
import { freshFolder, removeFolder, runIn } from './box.js';

const base = freshFolder();
const root = join(base, 'ws');
mkdirSync(root);
let visits = 0;
const web: Server = createServer((request, response) => {
  visits++;
  let body = '';
  request.on('data', (piece: Buffer) => (body += piece.toString()));
  request.on('end', () => response.end(`${request.method} ${request.url} host=${request.headers.host} body=${body}\n`));
});
await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
const { port } = web.address() as AddressInfo;
const audit: AuditRecord[] = [];
const questions: NetworkQuestion[] = [];
const boxes: Box[] = [];

async function boxFor(allow: readonly string[], mode: 'full' | 'limited' = 'full'): Promise<Box> {
  const box = await createSandbox(
    { mode: 'workspace-write', writableRoots: [root], network: { kind: 'proxied', allow, deny: [], mode } },
    {
      stateDir: join(base, 'state'),
      onNetwork: (record) => audit.push(record),
      networkAsker: async (question) => {
        questions.push(question);
        return question.host === 'asked.invalid' ? 'once' : 'deny';
      },
    },
  );
  boxes.push(box);
  return box;
}

const listed = await boxFor([`127.0.0.1:${port}`]);
const real = it.skipIf(listed.tier !== 'bwrap');
const url = `http://127.0.0.1:${port}`;
afterAll(async () => {
  for (const box of boxes) await box.close();
  web.close();
  removeFolder(base);
});

describe('a listed host', () => {
  real('answers over plain HTTP, with the host header of the target', async () => {
    const { output } = await runIn(listed, `curl -s -d hello -H "Host: evil.example" ${url}/a?b=1`);
    expect(output).toBe(`POST /a?b=1 host=127.0.0.1:${port} body=hello\n`);
  });

  real('answers through CONNECT and SOCKS', async () => {
    expect((await runIn(listed, `curl -s -p ${url}/c`)).output).toContain('GET /c');
    const socks = `curl -s --socks5-hostname "$(echo "$HTTP_PROXY" | sed s,http://,,)" ${url}/s`;
    expect((await runIn(listed, socks)).output).toContain('GET /s');
  });
});

describe('any other host', () => {
  real('is refused and appears once in the audit with its command', async () => {
    audit.length = 0;
    const { output } = await runIn(listed, 'curl -s http://other.invalid/; true');
    expect(output).toContain('network access to other.invalid:80 is refused by the sandbox (not-listed)');
    // The connection of the test before may be recorded only now: its end is what is recorded.
    expect(audit.filter(({ host }) => host === 'other.invalid')).toMatchObject([
      { host: 'other.invalid', port: 80, decision: 'refuse', command: expect.stringContaining('curl') },
    ]);
  });

  real('is known to the process that asked', async () => {
    const running = await listed.spawn(['curl', '-s', 'http://other.invalid:81/']);
    await running.exited;
    expect(running.refusedHosts?.()).toEqual(['other.invalid:81']);
  });

  real('cannot be reached round the proxy', async () => {
    visits = 0;
    const direct = `curl -s -m 3 --noproxy "*" ${url}/; exec 3<>/dev/tcp/127.0.0.1/${port}`;
    await runIn(listed, `bash -c '${direct}'; curl -s -m 3 --noproxy "*" http://93.184.216.34/; true`);
    expect(visits).toBe(0);
  });

  real('is asked about once, and the answer holds', async () => {
    questions.length = 0;
    const { output } = await runIn(listed, 'curl -s -o /dev/null -w "%{http_code}" http://asked.invalid/');
    expect(questions).toMatchObject([
      { host: 'asked.invalid', port: 80, command: { text: expect.stringContaining('curl') } },
    ]);
    // The answer was yes; the name does not exist all the same.
    expect(output).toContain('403');
  });
});

describe('limited mode', () => {
  real('lets through reading over plain HTTP only', async () => {
    const limited = await boxFor(['127.0.0.1'], 'limited');
    expect((await runIn(limited, `curl -s ${url}/get`)).output).toContain('GET /get');
    expect((await runIn(limited, `curl -s -d x ${url}/post`)).output).toContain('(method)');
    expect((await runIn(limited, `curl -s -p ${url}/tunnel || echo refused`)).output).toContain('refused');
  });
});

describe('the session', () => {
  real('is shared by commands and gone when the box is closed', async () => {
    const box = await boxFor(['127.0.0.1']);
    const names = await Promise.all([
      runIn(box, 'readlink /proc/self/ns/net'),
      runIn(box, 'readlink /proc/self/ns/net'),
    ]);
    expect(names[0]!.output).toBe(names[1]!.output);
    await box.close();
    const outside = await new Promise((resolve) => {
      connect(3128, '127.0.0.1')
        .on('error', () => resolve('refused'))
        .on('connect', () => resolve('open'));
    });
    expect(outside).toBe('refused');
  });
});

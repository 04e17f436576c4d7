// One turn of one program against a script, and everything that was seen of it.
import { spawn } from 'node:child_process';
import { bytesWrittenBy, cpuOf, now } from './numbers.mjs';

/** Kills a program that hangs, so that the bench always ends. */
const LIMIT_MS = 300_000;

/**
 * Resolves with `{startedAt, exitedAt, requests, usage}`. `usage[n]` is what the program had used when request n came:
 * `{own, children, written}` in milliseconds of CPU and bytes. Rejects when the turn did not make all its requests.
 */
export async function runTurn(bench, program, { steps, sandboxed = false, keepBodies = false, probeAt = [] }) {
  const usage = {};
  let child;
  const onRequest = (n) => {
    if (probeAt.includes(n)) usage[n] = { ...cpuOf(child.pid), written: bytesWrittenBy(child.pid) };
  };
  const requests = bench.server.begin({ steps, keepBodies, onRequest });
  const { argv, env } = program.launch({ port: bench.server.port, home: bench.place.freshHome(), sandboxed });
  const [file, ...args] = argv;
  const startedAt = now();
  child = spawn(file, args, { cwd: bench.place.work, env, stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (bytes) => (stderr += bytes));
  const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  const status = await new Promise((resolve, reject) => child.once('exit', resolve).once('error', reject));
  const exitedAt = now();
  clearTimeout(timer);
  if (status !== 0 || requests.length !== steps.length) {
    const seen = `${requests.length} of ${steps.length} requests, status ${status}`;
    throw new Error(`${program.name} did not do its turn (${seen}): ${stderr.slice(-2000)}`);
  }
  return { startedAt, exitedAt, requests, usage };
}

/** Gaps of a run, milliseconds: from the last byte of response n to the arrival of request n + 1. */
export function gaps({ requests }) {
  return requests.slice(1).map((request, n) => request.arrivedAt - requests[n].doneAt);
}

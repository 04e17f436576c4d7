// How long it takes to begin, and to be gone again.
import { spawn } from 'node:child_process';
import { lastStep } from '../lib/model-server.mjs';
import { cpuOf, interleave, mean, now } from '../lib/numbers.mjs';
import { runTurn } from '../lib/turn.mjs';

/** `--version` against a Node that does nothing. */
export async function measureVersion(bench, { rounds }) {
  const programs = [
    { name: 'turnwright', argv: [process.execPath, bench.place.program, '--version'] },
    { name: 'floor', argv: [process.execPath, '-e', '0'] },
    ...(bench.codex === undefined ? [] : [{ name: 'codex', argv: [bench.codex, '--version'] }]),
  ];
  const runs = await interleave(programs, rounds, ({ argv }) => runAlone(argv, bench));
  return [
    bench.metric('version', '`--version`, wall time', 'ms', runs, (run) => run.wall),
    bench.metric('versionCpu', '`--version`, CPU time', 'ms', runs, (run) => run.cpu, mean),
  ];
}

async function runAlone([file, ...args], bench) {
  const before = cpuOf(process.pid).children;
  const startedAt = now();
  const child = spawn(file, args, { stdio: 'ignore', env: { PATH: process.env.PATH, HOME: bench.place.user } });
  await new Promise((resolve, reject) => child.once('exit', resolve).once('error', reject));
  return { wall: now() - startedAt, cpu: cpuOf(process.pid).children - before };
}

/** A turn without calls: to the first request, from the answer to the exit, and what it cost. */
export async function measureStart(bench, { rounds }) {
  const runs = await interleave(bench.programs, rounds, async (program) => {
    const before = cpuOf(process.pid).children;
    const run = await runTurn(bench, program, { steps: [lastStep(0)], probeAt: [0] });
    const [request] = run.requests;
    return {
      first: request.arrivedAt - run.startedAt,
      exit: run.exitedAt - request.doneAt,
      total: run.exitedAt - run.startedAt,
      cpu: cpuOf(process.pid).children - before,
    };
  });
  return [
    bench.metric('startToRequest', 'start → first request', 'ms', runs, (run) => run.first),
    bench.metric('answerToExit', 'answer → exit', 'ms', runs, (run) => run.exit),
    bench.metric('startToExit', 'start → exit', 'ms', runs, (run) => run.total),
    bench.metric('startCpu', 'start → exit, CPU time', 'ms', runs, (run) => run.cpu, mean),
  ];
}

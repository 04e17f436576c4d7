// What runs beside what: tools beside the stream, and tools beside each other.
import { command, completed, created, delta, lastStep, messageEnd, messageStart } from '../lib/model-server.mjs';
import { interleave } from '../lib/numbers.mjs';
import { runTurn } from '../lib/turn.mjs';

/** A response of `ms` that names a command of `ms` first: run side by side, both take `ms`. */
export async function measureOverlap(bench, { rounds, ms }) {
  const slices = 20;
  const text = Array.from({ length: slices }, () => [ms / slices, delta('m', 'word ')]).flat();
  const call = created(0) + command(0, `sleep ${ms / 1000}`);
  const steps = [
    [call + messageStart('m'), ...text, messageEnd('m', 'word '.repeat(slices)) + completed(0)],
    lastStep(1),
  ];
  const runs = await interleave(bench.programs, rounds, async (program) => {
    const { requests } = await runTurn(bench, program, { steps });
    return requests[1].arrivedAt - requests[0].firstWriteAt;
  });
  const ideal = (took) => ms / took;
  return [bench.metric('overlap', 'overlap: ideal time / time taken', 'of 1', runs, ideal)];
}

export async function measureParallel(bench, { rounds, calls, ms }) {
  const events = Array.from({ length: calls }, (_, n) => command(n, `sleep ${ms / 1000}`)).join('');
  const steps = [[created(0) + events + completed(0)], lastStep(1)];
  const runs = await interleave(bench.programs, rounds, async (program) => {
    const { requests } = await runTurn(bench, program, { steps });
    return requests[1].arrivedAt - requests[0].doneAt;
  });
  return [bench.metric('parallel', `${calls} calls of ${ms} ms at once: time taken`, 'ms', runs, (took) => took)];
}

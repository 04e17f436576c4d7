// What one call costs: from the last event of a response to the next request, with the command in between.
import { callSteps, command } from '../lib/model-server.mjs';
import { interleave, mean, median } from '../lib/numbers.mjs';
import { gaps, runTurn } from '../lib/turn.mjs';

/** The first calls pay for what is set up once; they have a metric of their own. */
const SETTLED = 2;

/** The command says when it ran, so that the gap has two halves. */
const TELL_TIME = 'echo "now $EPOCHREALTIME"';

export async function measureGap(bench, { rounds, calls, sandboxed }) {
  const steps = callSteps(calls, (n) => command(n, TELL_TIME));
  const runs = await interleave(bench.programs, rounds, async (program) => {
    const run = await runTurn(bench, program, { steps, sandboxed, keepBodies: true, probeAt: [SETTLED, calls] });
    return { ...halves(run, program.name), ...costs(run, calls - SETTLED) };
  });
  const id = sandboxed ? 'Sandboxed' : 'Full';
  const how = sandboxed ? 'sandboxed' : 'full access';
  const middle = (list) => median(list.slice(SETTLED));
  const metric = (key, label, unit, pick, merge) => bench.metric(key + id, `${label}, ${how}`, unit, runs, pick, merge);
  return [
    metric('gap', 'gap per call', 'ms', (run) => middle(run.gap)),
    metric('before', 'call → command runs', 'ms', (run) => middle(run.before)),
    metric('after', 'last output → next request', 'ms', (run) => middle(run.after)),
    metric('firstGap', 'gap of the first call', 'ms', (run) => run.gap[0]),
    metric('ownCpu', 'own CPU per call', 'ms', (run) => run.own, mean),
    metric('allCpu', 'CPU per call with its processes', 'ms', (run) => run.all, mean),
    metric('written', 'bytes to disk per call', 'B', (run) => run.written, mean),
  ];
}

/** From the last event of a response to the command, and from there to the next request. */
function halves(run, name) {
  const { requests } = run;
  const spoke = requests.slice(1).map(({ text }) => 1000 * Number([...text.matchAll(/now (\d+\.\d+)/g)].at(-1)?.[1]));
  if (spoke.some(Number.isNaN)) throw new Error(`${name} did not run the command: ${requests[1].text.slice(-300)}`);
  return {
    gap: gaps(run),
    before: spoke.map((at, n) => at - requests[n].doneAt),
    after: spoke.map((at, n) => requests[n + 1].arrivedAt - at),
  };
}

function costs({ usage }, calls) {
  const [first, last] = Object.values(usage);
  const own = (last.own - first.own) / calls;
  return {
    own,
    all: own + (last.children - first.children) / calls,
    written: (last.written - first.written) / calls,
  };
}
